package io.syncguard.batching;

/** A request of tests, to a {@link ManualStore}. */
record StoreRequest(String name, Object key, Object group) {

    static final String GROUP = "any";

    /** Creates a request with a key of its own, in the same group as others. */
    static StoreRequest of(String name) {
        return new StoreRequest(name, name, GROUP);
    }

    StoreRequest ofKey(Object key) {
        return new StoreRequest(name, key, group);
    }

    StoreRequest ofGroup(Object group) {
        return new StoreRequest(name, key, group);
    }

    String answer() {
        return "answer to " + name;
    }

    @Override
    public String toString() {
        return name;
    }
}
