package io.syncguard.sample;

/**
 * The instance that answers a request.
 */
record Instance(long pid, int port) {}
