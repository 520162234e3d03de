package io.syncguard.core;

import io.syncguard.LockHandle;
import io.syncguard.LockHandles;
import io.syncguard.LockLimits;
import io.syncguard.LockMode;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.concurrent.Shielded;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one engine for several locks: joins the keys that the running thread has already, and acquires the
 * others together. Thread-safe.
 */
final class SeveralLocks {

    private final EngineParts parts;
    private final HandleJoiner joiner;
    private final Acquisitions acquisitions;
    private final Acquirer acquirer;
    private final LeaseHandles leases;
    private final BackgroundReleaser releaser;

    SeveralLocks(
            EngineParts parts,
            HandleJoiner joiner,
            Acquisitions acquisitions,
            Acquirer acquirer,
            LeaseHandles leases,
            BackgroundReleaser releaser) {
        this.parts = parts;
        this.joiner = joiner;
        this.acquisitions = acquisitions;
        this.acquirer = acquirer;
        this.leases = leases;
        this.releaser = releaser;
    }

    /** @throws LockNotAcquiredException when the wait time is over */
    LockHandles acquire(List<LockRequest> asked) {
        List<LockRequest> requests = configured(asked);
        Duration waitTime = requests.stream()
                .map(parts.settings()::waitTime)
                .min(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
        return Objects.requireNonNull(acquire(requests, waitTime, true));
    }

    /** Returns {@code null} when the call was refused. */
    @Nullable
    LockHandles tryAcquire(List<LockRequest> asked) {
        return acquire(configured(asked), Duration.ZERO, false);
    }

    private List<LockRequest> configured(List<LockRequest> asked) {
        List<LockRequest> requests = LockLimits.requests(asked).stream()
                .map(parts.settings()::configured)
                .toList();
        requests.forEach(parts.transactions()::requireGuard);
        return requests;
    }

    private @Nullable LockHandles acquire(List<LockRequest> requests, Duration waitTime, boolean throwsRefusal) {
        Map<String, LockHandle> byKey = new HashMap<>();
        try {
            List<LockRequest> others = new ArrayList<>();
            for (LockRequest request : oneForEachKey(requests)) {
                LockHandle joined = joiner.join(request);
                if (joined == null) {
                    others.add(request);
                } else {
                    byKey.put(request.key(), joined);
                }
            }
            if (!others.isEmpty()) {
                List<LeaseHandle> acquired = acquireOthers(others, waitTime, throwsRefusal);
                if (acquired == null) {
                    byKey.values().forEach(LockHandle::close);
                    return null;
                }
                acquired.forEach(handle -> byKey.put(handle.key(), handle));
            }
        } catch (Throwable ex) {
            byKey.values().forEach(joined -> Shielded.run(joined::close, ex::addSuppressed));
            throw ex;
        }
        List<LockHandle> all = requests.stream()
                .map(request -> Objects.requireNonNull(byKey.get(request.key())))
                .toList();
        return new JointHandles(all, leases);
    }

    private @Nullable List<LeaseHandle> acquireOthers(
            List<LockRequest> requests, Duration waitTime, boolean throwsRefusal) {
        try {
            return acquisitions.run(() -> {
                JointAcquisition acquisition = new JointAcquisition(
                        acquirer, parts.backend(), leases, releaser, parts.time(), requests, waitTime);
                List<LeaseHandle> handles = acquisition.acquire();
                if (handles == null && throwsRefusal) {
                    throw acquisition.refusal();
                }
                return handles;
            });
        } finally {
            releaser.flushLate();
        }
    }

    /** Keeps, of several requests for one key, the one that lets in the fewest others. */
    private static List<LockRequest> oneForEachKey(List<LockRequest> requests) {
        Map<String, LockRequest> byKey = new LinkedHashMap<>();
        requests.forEach(request -> byKey.merge(
                request.key(), request, (one, other) -> sharedLeases(other) < sharedLeases(one) ? other : one));
        return List.copyOf(byKey.values());
    }

    /** How many shared leases of the key may be held, by this request. */
    private static int sharedLeases(LockRequest request) {
        if (request.mode() == LockMode.EXCLUSIVE) {
            return 0;
        }
        return request.permits() == 0 ? Integer.MAX_VALUE : request.permits();
    }

    /** Releases its handles together. */
    private record JointHandles(List<LockHandle> all, LeaseHandles leases) implements LockHandles {

        @Override
        public void close() {
            if (all.size() > 1) {
                leases.releaseTogether(List.copyOf(new LinkedHashSet<>(all)));
            }
            // Reports the losses, and releases what was left out.
            LockHandles.super.close();
        }
    }
}
