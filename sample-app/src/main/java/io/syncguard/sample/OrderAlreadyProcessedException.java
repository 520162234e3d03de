package io.syncguard.sample;

/**
 * The order was charged before. The lock is there to prevent a second charge.
 */
final class OrderAlreadyProcessedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    OrderAlreadyProcessedException(ProcessedOrder order) {
        super("Order " + order.orderId() + " was already processed at " + order.processedAt() + ", under fence "
                + order.fence() + ".");
    }
}
