package io.syncguard.sample;

/**
 * The price that a partner asks for.
 *
 * @param fence of the permit under which the partner was asked
 * @param instance the one that asked
 */
record Quote(String partner, int cents, long fence, Instance instance) {}
