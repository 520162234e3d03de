package io.syncguard.sample;

/**
 * The order was charged before: charging it again would be the mistake that the lock is there to prevent.
 */
final class OrderAlreadyProcessedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    OrderAlreadyProcessedException(ProcessedOrder order) {
        super("Order " + order.orderId() + " was already processed at " + order.processedAt() + ", under fence "
                + order.fence() + ".");
    }
}
