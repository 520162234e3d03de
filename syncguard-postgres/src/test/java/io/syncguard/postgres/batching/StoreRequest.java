package io.syncguard.postgres.batching;

import org.jspecify.annotations.Nullable;

/** A request of tests, to a {@link ManualStore}. */
record StoreRequest(
        String name, @Nullable Object key, @Nullable Object group, boolean sharesBatch) {

    static final String GROUP = "any";

    /** With a key of its own, and of the same group as others. */
    static StoreRequest of(String name) {
        return new StoreRequest(name, name, GROUP, false);
    }

    StoreRequest ofKey(@Nullable Object key) {
        return new StoreRequest(name, key, group, sharesBatch);
    }

    StoreRequest ofGroup(@Nullable Object group) {
        return new StoreRequest(name, key, group, sharesBatch);
    }

    /** Like a reader. */
    StoreRequest sharingBatches() {
        return new StoreRequest(name, key, group, true);
    }

    String answer() {
        return "answer to " + name;
    }

    @Override
    public String toString() {
        return name;
    }
}
