package io.syncguard.sample;

import java.util.Map;

/**
 * All prices, in cents, of one edition.
 *
 * @param edition the fence under which the list was written; 0 for the first
 */
record PriceList(long edition, Map<String, Integer> prices) {}
