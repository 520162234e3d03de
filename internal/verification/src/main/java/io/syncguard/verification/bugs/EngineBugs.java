package io.syncguard.verification.bugs;

import io.syncguard.LockBackendException;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.Answers;
import io.syncguard.spi.ForwardingBackend;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.RequestNotSentException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/** Backends that make the engine behave as if it had a bug. The history records the real requests and answers. */
final class EngineBugs {

    private static final Duration HOUR = Duration.ofHours(1);

    private EngineBugs() {}

    /** Withholds a grant until the next attempt: the engine then takes the deadline from a time after the reply. */
    static LockBackend deadlineFromReply(LockBackend right) {
        return new ForwardingBackend(right) {

            private final Map<String, AcquireResult> granted = new ConcurrentHashMap<>();

            @Override
            public CompletionStage<List<AcquireResult>> acquire(List<AcquireRequest> requests, GrantExtent extent) {
                AcquireRequest first = requests.get(0);
                AcquireResult earlier = granted.remove(first.lockId());
                if (earlier != null) {
                    return CompletableFuture.completedFuture(List.of(earlier));
                }
                CompletionStage<List<AcquireResult>> answer = super.acquire(requests, extent);
                return first.waiterNumber() == null ? answer : mapped(answer, result -> withheld(first, result));
            }

            private AcquireResult withheld(AcquireRequest request, AcquireResult result) {
                if (!(result instanceof AcquireResult.Granted)) {
                    return result;
                }
                granted.put(request.lockId(), result);
                return new AcquireResult.Queued(Duration.ofMillis(1), null);
            }
        };
    }

    static LockBackend noSafetyPoll(LockBackend right) {
        return new ForwardingBackend(right) {
            @Override
            public CompletionStage<List<AcquireResult>> acquire(List<AcquireRequest> requests, GrantExtent extent) {
                return mapped(
                        super.acquire(requests, extent),
                        result -> result instanceof AcquireResult.Queued queued
                                ? new AcquireResult.Queued(HOUR, queued.holder())
                                : result);
            }

            @Override
            public CompletionStage<List<Duration>> renew(List<KeyedLockId> entries) {
                return mapped(super.renew(entries), any -> HOUR);
            }
        };
    }

    private static <A> CompletionStage<List<A>> mapped(CompletionStage<List<A>> answers, UnaryOperator<A> change) {
        return answers.thenApply(all -> all.stream().map(change).toList());
    }

    static LockBackend lostAnswerNotSent(LockBackend right) {
        return new ForwardingBackend(right) {
            @Override
            public CompletionStage<List<AcquireResult>> acquire(List<AcquireRequest> requests, GrantExtent extent) {
                try {
                    return CompletableFuture.completedFuture(Answers.await(() -> super.acquire(requests, extent)));
                } catch (LockBackendException ex) {
                    throw new RequestNotSentException(ex);
                }
            }
        };
    }
}
