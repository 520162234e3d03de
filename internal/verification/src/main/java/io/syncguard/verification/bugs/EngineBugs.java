package io.syncguard.verification.bugs;

import io.syncguard.LockBackendException;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.RequestNotSentException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Backends that make the engine behave as if it had a bug. The history records the real requests and answers. */
final class EngineBugs {

    private static final Duration HOUR = Duration.ofHours(1);

    private EngineBugs() {}

    /** Withholds a grant until the next attempt: the engine then takes the deadline from a time after the reply. */
    static LockBackend deadlineFromReply(LockBackend right) {
        return new ForwardingBackend(right) {

            private final Map<String, AcquireResult> granted = new ConcurrentHashMap<>();

            @Override
            public AcquireResult acquire(AcquireRequest request) {
                AcquireResult earlier = granted.remove(request.lockId());
                if (earlier != null) {
                    return earlier;
                }
                AcquireResult result = super.acquire(request);
                if (request.waiterNumber() == null || !(result instanceof AcquireResult.Granted)) {
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
            public AcquireResult acquire(AcquireRequest request) {
                AcquireResult result = super.acquire(request);
                return result instanceof AcquireResult.Queued queued
                        ? new AcquireResult.Queued(HOUR, queued.holder())
                        : result;
            }

            @Override
            public List<Duration> renewWaiters(List<KeyedLockId> ids) {
                return super.renewWaiters(ids).stream().map(any -> HOUR).toList();
            }
        };
    }

    static LockBackend lostAnswerNotSent(LockBackend right) {
        return new ForwardingBackend(right) {
            @Override
            public AcquireResult acquire(AcquireRequest request) {
                try {
                    return super.acquire(request);
                } catch (LockBackendException ex) {
                    throw new RequestNotSentException(ex);
                }
            }
        };
    }
}
