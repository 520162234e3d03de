package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Which servers of a store do not answer, as the requests of this process find out. Thread-safe. */
final class StoreContact {

    /** Failures that say nothing about the server: of the caller, or of the number of its connections. */
    private static final Set<LockErrorCode> OF_THE_CALLER =
            EnumSet.of(LockErrorCode.ABORTED, LockErrorCode.INVALID_ARGUMENT, LockErrorCode.RATE_LIMITED);

    /** @param since on the clock: when the first request failed */
    private record Silence(long since, int failures, LockBackendException last) {

        Silence and(Silence later) {
            return new Silence(since, failures + later.failures, later.last);
        }
    }

    private final Time time;
    private final Map<Integer, Silence> silent = new ConcurrentHashMap<>();

    StoreContact(Time time) {
        this.time = time;
    }

    void failed(int server, Throwable failure) {
        LockBackendException error = BackendFailure.of("The request failed", failure);
        if (!OF_THE_CALLER.contains(error.code())) {
            silent.merge(server, new Silence(time.nanoTime(), 1, error), Silence::and);
        }
    }

    void answered(int server) {
        if (!silent.isEmpty()) {
            silent.remove(server);
        }
    }

    /** All servers have answered together. */
    void answered() {
        silent.clear();
    }

    /** The outage of the server that has been silent for longest; {@code null} if all answer. */
    @Nullable
    StoreOutage outage() {
        long now = time.nanoTime();
        return silent.values().stream()
                .max(Comparator.comparingLong(each -> now - each.since()))
                .map(longest -> new StoreOutage(
                        Duration.ofNanos(now - longest.since()),
                        longest.failures(),
                        longest.last().code(),
                        String.valueOf(longest.last().getMessage())))
                .orElse(null);
    }
}
