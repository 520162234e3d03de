package io.syncguard.verification.recording;

import io.syncguard.LockBackendException;
import io.syncguard.LockMode;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.JointResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.RequestNotSentException;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.verification.history.HistoryEvent;
import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Records the requests of the library to its store, and the answers, including heartbeats and late releases. It writes
 * each request before the backend sends it: if the process is killed in between, the outcome is unknown. It writes a
 * hand-over before the library receives it.
 *
 * <p>It is a dynamic proxy, so that operations without a lease pass unrecorded.
 */
public final class RecordedBackend implements BeanPostProcessor {

    private final HistoryRecorder recorder;
    private final KnownLockIds known;
    private final HandOverRecorder handOvers;

    public RecordedBackend(HistoryRecorder recorder, KnownLockIds known) {
        this.recorder = recorder;
        this.known = known;
        this.handOvers = new HandOverRecorder(recorder);
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        return bean instanceof LockBackend backend ? recorded(backend) : bean;
    }

    private LockBackend recorded(LockBackend backend) {
        InvocationHandler handler = (proxy, method, arguments) -> switch (method.getName()) {
            case "acquire" -> acquire(backend, method, (AcquireRequest) arguments[0]);
            case "acquireTogether" -> acquireTogether(backend, method, arguments);
            case "release" -> release(backend, method, (KeyedLockId) arguments[0]);
            case "releaseAll", "releaseAllLater", "releaseTogether" -> releaseAll(backend, method, arguments[0]);
            case "extend", "extendLater" -> extend(backend, method, arguments[0]);
            case "connect" -> connect(backend, method, (WakeUpListener) arguments[0]);
            case "renewWaiters", "renewWaitersLater" -> renewWaiters(backend, method, arguments[0]);
            default -> call(backend, method, arguments);
        };
        return (LockBackend)
                Proxy.newProxyInstance(LockBackend.class.getClassLoader(), new Class<?>[] {LockBackend.class}, handler);
    }

    private Object acquireTogether(LockBackend backend, Method method, Object[] arguments) throws Throwable {
        List<HistoryEvent> asked = ((List<?>) arguments[0])
                .stream().map(request -> asked((AcquireRequest) request)).toList();
        try {
            JointResult result = (JointResult) call(backend, method, arguments);
            JointResult.Refusal refusal = result.refusal();
            for (int i = 0; i < asked.size(); i++) {
                // The store did not try a request behind a refusal.
                recorder.write(
                        i < result.grants().size()
                                ? answered(asked.get(i), result.grants().get(i))
                                : refusal != null && i == refusal.position()
                                        ? answered(asked.get(i), refusal.result())
                                        : asked.get(i).answered(System.nanoTime(), Outcome.FAILED));
            }
            return result;
        } catch (Throwable ex) {
            failed(asked, ex);
            throw ex;
        }
    }

    private HistoryEvent asked(AcquireRequest acquire) {
        known.add(acquire.key(), acquire.lockId());
        HistoryEvent asked = begin(Kind.ACQUIRE, acquire.lockId())
                .with(Lease.ofTtl(acquire.ttl().toMillis())
                        .shared(acquire.mode() == LockMode.SHARED)
                        .permits(acquire.permits()));
        recorder.write(asked);
        return asked;
    }

    private Object acquire(LockBackend backend, Method method, AcquireRequest acquire) throws Throwable {
        HistoryEvent asked = asked(acquire);
        if (acquire.waiterNumber() != null) {
            handOvers.remember(acquire.waiterNumber(), asked, acquire.handOver());
        }
        try {
            AcquireResult attempt = (AcquireResult) call(backend, method, acquire);
            recorder.write(answered(asked, attempt));
            return attempt;
        } catch (Throwable ex) {
            recorder.write(asked.answered(System.nanoTime(), outcomeOf(ex)));
            throw ex;
        }
    }

    private static HistoryEvent answered(HistoryEvent asked, AcquireResult attempt) {
        long now = System.nanoTime();
        if (attempt instanceof AcquireResult.Granted grant) {
            return asked.answered(now, Outcome.OK)
                    .with(new Lease(
                            grant.fence().value(),
                            asked.lease().ttl(),
                            grant.acquiredAt().toEpochMilli(),
                            grant.expiresAt().toEpochMilli(),
                            asked.lease().shared(),
                            asked.lease().permits()));
        }
        return attempt instanceof AcquireResult.Queued queued
                ? asked.answered(now, Outcome.QUEUED).with(queued.nextLook().toMillis())
                : asked.answered(now, Outcome.REFUSED)
                        .with(((AcquireResult.Refused) attempt).timeLeft().toMillis());
    }

    private Object connect(LockBackend backend, Method method, WakeUpListener engine) throws Throwable {
        recorder.write(recorder.begin(Kind.PROCESS_STARTED, "main", "", "")
                .with(backend.waiterTtl().toMillis()));
        return call(backend, method, handOvers.recorded(engine, backend.waiterTtl()));
    }

    private Object release(LockBackend backend, Method method, KeyedLockId id) throws Throwable {
        HistoryEvent asked = begin(Kind.RELEASE, id.lockId());
        recorder.write(asked);
        try {
            Object outcome = call(backend, method, id);
            recorder.write(released(backend, asked, outcome));
            return outcome;
        } catch (Throwable ex) {
            recorder.write(asked.answered(System.nanoTime(), outcomeOf(ex)));
            throw ex;
        }
    }

    private Object releaseAll(LockBackend backend, Method method, Object argument) throws Throwable {
        List<HistoryEvent> asked = ((List<?>) argument)
                .stream()
                        .map(id -> begin(Kind.RELEASE, ((KeyedLockId) id).lockId()))
                        .toList();
        return send(backend, method, argument, asked, (each, answer, now) -> released(backend, each, answer));
    }

    /** Also records the hand-over in the answer. */
    private HistoryEvent released(LockBackend backend, HistoryEvent asked, Object answer) {
        ReleaseResult result = (ReleaseResult) answer;
        handOvers.record(result.handOvers(), backend.waiterTtl());
        return asked.answered(System.nanoTime(), outcomeOf(result.outcome()));
    }

    private static Outcome outcomeOf(ReleaseResult.Outcome outcome) {
        return switch (outcome) {
            case RELEASED -> Outcome.OK;
            case LEFT -> Outcome.LEFT;
            case BUSY -> Outcome.BUSY;
            case EXPIRED, NOT_FOUND -> Outcome.NOT_HELD;
        };
    }

    private Object renewWaiters(LockBackend backend, Method method, Object argument) throws Throwable {
        List<HistoryEvent> asked = ((List<?>) argument)
                .stream()
                        .map(id -> begin(Kind.RENEW, ((KeyedLockId) id).lockId()))
                        .toList();
        return send(backend, method, argument, asked, (each, answer, now) -> {
            Duration nextLook = (Duration) answer;
            return each.answered(now, nextLook.isZero() ? Outcome.NOT_HELD : Outcome.OK)
                    .with(nextLook.toMillis());
        });
    }

    /** Extends many leases, or one. */
    private Object extend(LockBackend backend, Method method, Object argument) throws Throwable {
        List<?> extensions = argument instanceof List<?> many ? many : List.of(argument);
        List<HistoryEvent> asked = extensions.stream()
                .map(ExtendRequest.class::cast)
                .map(extension -> begin(Kind.EXTEND, extension.lockId())
                        .with(Lease.ofTtl(extension.ttl().toMillis())))
                .toList();
        return send(backend, method, argument, asked, RecordedBackend::answered);
    }

    @FunctionalInterface
    private interface Answered {
        HistoryEvent by(HistoryEvent asked, Object answer, long now);
    }

    /** Sends one request or many. The answers may arrive later. */
    private Object send(
            LockBackend backend, Method method, Object argument, List<HistoryEvent> asked, Answered answered)
            throws Throwable {
        asked.forEach(recorder::write);
        try {
            Object answer = call(backend, method, argument);
            if (answer instanceof CompletionStage<?> later) {
                return later.whenComplete((answers, failure) -> {
                    if (failure == null) {
                        write(asked, (List<?>) answers, answered);
                    } else {
                        failed(asked, failure instanceof CompletionException ? failure.getCause() : failure);
                    }
                });
            }
            write(asked, answer instanceof List<?> many ? many : List.of(answer), answered);
            return answer;
        } catch (Throwable ex) {
            failed(asked, ex);
            throw ex;
        }
    }

    private void write(List<HistoryEvent> asked, List<?> answers, Answered answered) {
        long now = System.nanoTime();
        for (int i = 0; i < asked.size(); i++) {
            recorder.write(answered.by(asked.get(i), answers.get(i), now));
        }
    }

    private void failed(List<HistoryEvent> asked, Throwable ex) {
        long now = System.nanoTime();
        asked.forEach(each -> recorder.write(each.answered(now, outcomeOf(ex))));
    }

    private static HistoryEvent answered(HistoryEvent asked, Object outcome, long now) {
        if (outcome instanceof ExtendResult.Extended extended) {
            return asked.answered(now, Outcome.OK)
                    .with(Lease.extended(
                            asked.lease().ttl(), extended.expiresAt().toEpochMilli()));
        }
        if (outcome instanceof ExtendResult.Failed failed) {
            return asked.answered(now, outcomeOf(failed.error()));
        }
        return asked.answered(now, outcome instanceof ExtendResult.Busy ? Outcome.BUSY : Outcome.NOT_HELD);
    }

    /** Returns the outcome of a failure: {@link LockBackend} defines which failures are in doubt. */
    private static Outcome outcomeOf(Throwable ex) {
        if (ex instanceof RequestNotSentException) {
            return Outcome.FAILED;
        }
        return !(ex instanceof LockBackendException known) || known.code().isInDoubt()
                ? Outcome.UNKNOWN
                : Outcome.FAILED;
    }

    private HistoryEvent begin(Kind kind, String lockId) {
        return recorder.begin(
                kind, Thread.currentThread().getName(), known.keyOf(lockId), HistoryRecorder.hash(lockId));
    }

    private static Object call(LockBackend backend, Method method, Object... arguments) throws Throwable {
        try {
            return method.invoke(backend, arguments);
        } catch (InvocationTargetException ex) {
            throw ex.getCause();
        }
    }
}
