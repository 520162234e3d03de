package io.syncguard.sample;

/**
 * The price of a partner.
 *
 * @param fence the fence of the permit under which the partner was asked
 * @param instance the instance that asked
 */
record Quote(String partner, int cents, long fence, Instance instance) {}
