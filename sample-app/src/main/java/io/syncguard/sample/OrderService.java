package io.syncguard.sample;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import org.springframework.stereotype.Service;

/**
 * Processes each order once, however often and wherever it is submitted.
 */
@Service
class OrderService {

    private final Orders orders;

    OrderService(Orders orders) {
        this.orders = orders;
    }

    /**
     * Charges the order. Refuses concurrent submissions at once, because after a wait they would only learn that the
     * order was processed.
     */
    @DistributedLock(name = "order", key = "#orderId", waitTime = "0s")
    public ProcessedOrder submit(long orderId) throws InterruptedException {
        // Read under the lock, because otherwise another holder may be about to charge.
        orders.find(orderId).ifPresent(order -> {
            throw new OrderAlreadyProcessedException(order);
        });
        PretendWork.chargePayment();
        LockHandle lock = LockHandle.current().orElseThrow();
        return orders.add(orderId, lock.fence());
    }
}
