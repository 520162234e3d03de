package io.syncguard.compatibility;

/** The keys of locks are read from it. */
public record Order(String id) {}
