package io.syncguard.sample;

/**
 * A quantity that was taken out of the stock.
 *
 * @param left the quantity that is left
 * @param fence the fence of the lock under which it was taken
 */
record Reservation(String sku, int quantity, int left, long fence) {}
