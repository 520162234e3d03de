package io.syncguard.verification.recording;

import io.syncguard.LockBackendException;
import io.syncguard.LockMode;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.ForwardingBackend;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseRequest;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.RequestNotSentException;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.verification.history.HistoryEvent;
import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Records the requests of the library to its store, and the answers, including heartbeats and late releases. It writes
 * each request before the store gets it: if the process is killed in between, the outcome is unknown. It writes each
 * answer and each hand-over before the library receives it.
 */
public final class RecordedBackend extends ForwardingBackend {

    private final HistoryRecorder recorder;
    private final KnownLockIds known;
    private final HandOverRecorder handOvers;

    /** @param store takes each request of a caller alone, such as one behind {@code BatchingBackend} */
    public RecordedBackend(LockBackend store, HistoryRecorder recorder, KnownLockIds known) {
        super(store);
        this.recorder = recorder;
        this.known = known;
        this.handOvers = new HandOverRecorder(recorder);
    }

    @Override
    public BooleanSupplier connect(WakeUpListener engine) {
        Duration waiterTtl = info().waiterTtl();
        recorder.write(recorder.begin(Kind.PROCESS_STARTED, "main", "", "").with(waiterTtl.toMillis()));
        return super.connect(handOvers.recorded(engine, waiterTtl));
    }

    @Override
    public CompletionStage<List<AcquireResult>> acquire(List<AcquireRequest> requests, GrantExtent extent) {
        List<HistoryEvent> asked = requests.stream().map(this::asked).toList();
        return recorded(asked, () -> super.acquire(requests, extent), RecordedBackend::answered);
    }

    private HistoryEvent asked(AcquireRequest acquire) {
        known.add(acquire.key(), acquire.lockId());
        HistoryEvent asked = begin(Kind.ACQUIRE, acquire.lockId())
                .with(Lease.ofTtl(acquire.options().ttl().toMillis())
                        .shared(acquire.options().mode() == LockMode.SHARED)
                        .permits(acquire.options().permits()));
        if (acquire.waiterNumber() != null) {
            handOvers.remember(acquire.waiterNumber(), asked, acquire.options().handOver());
        }
        return asked;
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
        if (attempt instanceof AcquireResult.Queued queued) {
            return asked.answered(now, Outcome.QUEUED).with(queued.nextLook().toMillis());
        }
        return attempt instanceof AcquireResult.Refused refused
                ? asked.answered(now, Outcome.REFUSED).with(refused.timeLeft().toMillis())
                : asked.answered(now, Outcome.FAILED);
    }

    /** No rule judges releases after a time. They pass unrecorded. */
    @Override
    public CompletionStage<List<ReleaseResult>> release(List<ReleaseRequest> requests) {
        if (requests.get(0).heldFor() != null) {
            return super.release(requests);
        }
        List<HistoryEvent> asked = requests.stream()
                .map(request -> begin(Kind.RELEASE, request.id().lockId()))
                .toList();
        return recorded(asked, () -> super.release(requests), this::released);
    }

    /** Also records the hand-over in the answer. */
    private HistoryEvent released(HistoryEvent asked, ReleaseResult result) {
        handOvers.record(result.handOvers(), info().waiterTtl());
        return asked.answered(
                System.nanoTime(),
                switch (result.outcome()) {
                    case RELEASED -> Outcome.OK;
                    case LEFT -> Outcome.LEFT;
                    case BUSY -> Outcome.BUSY;
                    case EXPIRED, NOT_FOUND -> Outcome.NOT_HELD;
                    case UNDECIDED -> Outcome.FAILED;
                });
    }

    /** No rule judges extensions with another fence. They pass unrecorded. */
    @Override
    public CompletionStage<List<ExtendResult>> extend(List<ExtendRequest> requests) {
        if (requests.get(0).kind() == ExtendRequest.Kind.NEXT_FENCE) {
            return super.extend(requests);
        }
        List<HistoryEvent> asked = requests.stream()
                .map(request -> begin(Kind.EXTEND, request.id().lockId())
                        .with(Lease.ofTtl(request.ttl().toMillis())))
                .toList();
        return recorded(asked, () -> super.extend(requests), RecordedBackend::answered);
    }

    private static HistoryEvent answered(HistoryEvent asked, ExtendResult result) {
        long now = System.nanoTime();
        return result instanceof ExtendResult.Extended extended
                ? asked.answered(now, Outcome.OK)
                        .with(Lease.extended(
                                asked.lease().ttl(), extended.expiresAt().toEpochMilli()))
                : asked.answered(now, result instanceof ExtendResult.Busy ? Outcome.BUSY : Outcome.NOT_HELD);
    }

    @Override
    public CompletionStage<List<Duration>> renew(List<KeyedLockId> entries) {
        List<HistoryEvent> asked =
                entries.stream().map(entry -> begin(Kind.RENEW, entry.lockId())).toList();
        return recorded(
                asked,
                () -> super.renew(entries),
                (each, nextLook) -> each.answered(System.nanoTime(), nextLook.isZero() ? Outcome.NOT_HELD : Outcome.OK)
                        .with(nextLook.toMillis()));
    }

    private HistoryEvent begin(Kind kind, String lockId) {
        return recorder.begin(
                kind, Thread.currentThread().getName(), known.keyOf(lockId), HistoryRecorder.hash(lockId));
    }

    /** Sends a list. The answers may arrive later. */
    private <A> CompletionStage<List<A>> recorded(
            List<HistoryEvent> asked,
            Supplier<CompletionStage<List<A>>> request,
            BiFunction<HistoryEvent, A, HistoryEvent> answered) {
        asked.forEach(recorder::write);
        try {
            CompletableFuture<List<A>> sent = request.get().toCompletableFuture();
            CompletableFuture<List<A>> recorded = sent.whenComplete((answers, failure) -> {
                if (failure == null) {
                    for (int i = 0; i < asked.size(); i++) {
                        recorder.write(answered.apply(asked.get(i), answers.get(i)));
                    }
                } else {
                    failed(asked, failure);
                }
            });
            recorded.whenComplete((answers, failure) -> {
                if (sent.cancel(false)) {
                    // The caller no longer waits, and the answer will not be recorded.
                    failed(asked, failure);
                }
            });
            return recorded;
        } catch (Throwable ex) {
            failed(asked, ex);
            throw ex;
        }
    }

    private void failed(List<HistoryEvent> asked, Throwable failure) {
        long now = System.nanoTime();
        Outcome outcome = outcomeOf(failure instanceof CompletionException ? failure.getCause() : failure);
        asked.forEach(each -> recorder.write(each.answered(now, outcome)));
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
}
