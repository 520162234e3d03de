package io.syncguard.sample;

/**
 * A finished report.
 *
 * @param fence the fence of the lock under which it was made
 * @param instance the instance that made it
 */
record Report(String id, int seconds, long fence, Instance instance) {}
