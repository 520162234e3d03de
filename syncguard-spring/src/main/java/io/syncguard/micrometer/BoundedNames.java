package io.syncguard.micrometer;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Limits the names of locks in tags. After the first {@value #MAX_NAMES} names, all others become {@value #OTHER}, so
 * that names made from data by mistake cannot fill a registry. Thread-safe.
 */
final class BoundedNames {

    private static final int MAX_NAMES = 500;

    private static final String OTHER = "other";

    private final Set<String> names = ConcurrentHashMap.newKeySet();

    /** Concurrent calls may add a few names more. */
    String bounded(String name) {
        if (names.contains(name)) {
            return name;
        }
        if (names.size() >= MAX_NAMES) {
            return OTHER;
        }
        names.add(name);
        return name;
    }
}
