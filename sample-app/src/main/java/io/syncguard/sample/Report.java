package io.syncguard.sample;

/**
 * A finished report.
 *
 * @param fence the number of the grant under which it was made, the same from its start to its end
 * @param instance where it was made
 */
record Report(String id, int seconds, long fence, Instance instance) {}
