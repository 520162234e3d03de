package io.syncguard.sample;

/**
 * The available quantity is smaller than the requested one.
 */
final class OutOfStockException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    OutOfStockException(String sku, int quantity, int available) {
        super("Only " + available + " of " + sku + " are available, not " + quantity + ".");
    }
}
