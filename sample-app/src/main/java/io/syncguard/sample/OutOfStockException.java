package io.syncguard.sample;

/**
 * Less is available than was asked for.
 */
final class OutOfStockException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    OutOfStockException(String sku, int quantity, int available) {
        super("Only " + available + " of " + sku + " are available, not " + quantity + ".");
    }
}
