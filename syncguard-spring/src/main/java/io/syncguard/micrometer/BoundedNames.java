package io.syncguard.micrometer;

import io.syncguard.OneLine;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Limits the names of locks in tags. After the first {@value #MAX_NAMES} names, all others become {@value #OTHER}, so
 * that names made from data by mistake cannot fill a registry. Thread-safe.
 */
final class BoundedNames {

    private static final int MAX_NAMES = 500;

    private static final String OTHER = "other";

    private static final Log log = LogFactory.getLog(BoundedNames.class);

    private final Set<String> names = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean warned = new AtomicBoolean();

    private final boolean warns;

    /** @param warns whether it logs once that there are too many names */
    BoundedNames(boolean warns) {
        this.warns = warns;
    }

    /** Concurrent calls may add a few names more. */
    String bounded(String name) {
        if (names.contains(name)) {
            return name;
        }
        if (names.size() >= MAX_NAMES) {
            if (warns && warned.compareAndSet(false, true)) {
                log.warn("More than " + MAX_NAMES + " names of locks: meters and observations show '" + OneLine.of(name)
                        + "' and all further ones as '" + OTHER + "'. Give requests that differ in their keys alone one"
                        + " name, with LockRequest.of(name, key) or meterName");
            }
            return OTHER;
        }
        names.add(name);
        return name;
    }
}
