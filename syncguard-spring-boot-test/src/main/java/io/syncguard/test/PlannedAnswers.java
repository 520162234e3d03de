package io.syncguard.test;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The answers that a test plans for the next acquire requests. Each plan is for one request. Thread-safe. */
final class PlannedAnswers implements Function<AcquireRequest, @Nullable AcquireResult> {

    private final Predicate<String> isElection;

    // All guarded by the monitor.
    private final Map<String, Queue<Function<AcquireRequest, AcquireResult>>> byKey = new HashMap<>();
    private final Queue<Function<AcquireRequest, AcquireResult>> forAnyKey = new ArrayDeque<>();
    private final Set<String> dismissed = new HashSet<>();

    /** @param isElection whether a key belongs to an election, to which plans for any key do not apply */
    PlannedAnswers(Predicate<String> isElection) {
        this.isElection = isElection;
    }

    synchronized void plan(@Nullable String key, Function<AcquireRequest, AcquireResult> answer) {
        (key == null ? forAnyKey : byKey.computeIfAbsent(key, any -> new ArrayDeque<>())).add(answer);
    }

    /** Fails the next request of this waiter. */
    synchronized void dismiss(String lockId) {
        dismissed.add(lockId);
    }

    /** Forgets the plans, but not the dismissed waiters. */
    synchronized void clear() {
        byKey.clear();
        forAnyKey.clear();
    }

    @Override
    public @Nullable AcquireResult apply(AcquireRequest request) {
        Function<AcquireRequest, AcquireResult> answer = next(request);
        return answer == null ? null : answer.apply(request);
    }

    /** No plan applies to a request that a waiter repeats, because its acquisition began before the plan. */
    private synchronized @Nullable Function<AcquireRequest, AcquireResult> next(AcquireRequest request) {
        if (dismissed.remove(request.lockId())) {
            return PlannedAnswers::endedWithItsTest;
        }
        if (request.queued()) {
            return null;
        }
        Queue<Function<AcquireRequest, AcquireResult>> ofKey = byKey.get(request.key());
        if (ofKey != null && !ofKey.isEmpty()) {
            return ofKey.remove();
        }
        // Without a plan, the elections are not looked up: the application may still be starting.
        return forAnyKey.isEmpty() || isElection.test(request.key()) ? null : forAnyKey.remove();
    }

    private static AcquireResult endedWithItsTest(AcquireRequest request) {
        throw new LockBackendException(
                LockErrorCode.ABORTED,
                "The test during which a caller waited for '" + request.key() + "' has ended",
                null);
    }
}
