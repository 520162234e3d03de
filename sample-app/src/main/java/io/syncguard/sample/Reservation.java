package io.syncguard.sample;

/**
 * A quantity that was taken out of the stock.
 *
 * @param left what is available after it
 * @param fence the number of the grant under which it was taken
 */
record Reservation(String sku, int quantity, int left, long fence) {}
