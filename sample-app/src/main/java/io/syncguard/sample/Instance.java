package io.syncguard.sample;

/**
 * Which of the running instances answered.
 */
record Instance(long pid, int port) {}
