package io.syncguard.sample;

import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Accepts orders. {@link Problems} answers refused submissions.
 */
@RestController
final class OrderController {

    private final OrderService orders;

    OrderController(OrderService orders) {
        this.orders = orders;
    }

    @PostMapping("/orders/{orderId}/submit")
    ProcessedOrder submit(@PathVariable long orderId) throws InterruptedException {
        return orders.submit(orderId);
    }
}
