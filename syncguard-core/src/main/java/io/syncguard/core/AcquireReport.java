package io.syncguard.core;

import io.syncguard.LockException;
import io.syncguard.LockListener;
import io.syncguard.LockOutcome;
import io.syncguard.LockRequest;
import io.syncguard.OneLine;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.Objects;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** Reports one acquisition to the listeners and the observer. The thread that acquires the lock calls it. */
final class AcquireReport {

    private static final Log log = LogFactory.getLog(AcquireReport.class);

    private final LockRequest request;
    private final Time time;
    private final ListenerDispatcher dispatcher;
    private final AcquireObservation observation;
    private final long began;
    private boolean waits;

    /** Written by the thread that acquires the lock, before the report is listed among the waiters. */
    private @Nullable Thread waiting;

    private long waitsSince;

    AcquireReport(LockRequest request, Time time, ListenerDispatcher dispatcher) {
        this.request = request;
        this.time = time;
        this.dispatcher = dispatcher;
        this.began = time.nanoTime();
        this.observation = dispatcher.observeAcquire(request);
    }

    String key() {
        return request.key();
    }

    long began() {
        return began;
    }

    Duration elapsed() {
        return Duration.ofNanos(time.nanoTime() - began);
    }

    /** An attempt was not granted. */
    void contended(Contention contention) {
        observation.contended(contention.owner());
    }

    /** The caller has a queue entry, because of this contention. */
    void waits(Contention contention) {
        contended(contention);
        if (!waits) {
            waits = true;
            waiting = Thread.currentThread();
            waitsSince = time.nanoTime();
            log.debug(OneLine.of(contention + "; waiting"));
            dispatcher.dispatch(request, elapsed(), LockListener::waitStarted);
            observation.waits();
        }
    }

    /** Ends the wait, if the caller waited. */
    void waitEnded() {
        if (waits) {
            dispatcher.dispatch(request, elapsed(), LockListener::waitEnded);
        }
    }

    /** When the caller got its queue entry. */
    long waitsSince() {
        return waitsSince;
    }

    /** The lock that the caller waits for. For other threads. */
    LocalLock waitsFor(EngineSettings settings) {
        return new LocalLock(
                request,
                settings.owner(request),
                Objects.requireNonNull(waiting),
                observation.traceId(),
                null,
                null,
                Duration.ofNanos(time.nanoTime() - waitsSince));
    }

    /** Returns the grant, whose lock is observed as that of this acquisition. */
    GrantedLease granted(GrantedLease grant) {
        observation.ended(LockOutcome.ACQUIRED);
        return grant.observedBy(observation);
    }

    /** Returns how long the caller waited, without the time that listeners take. */
    Duration refused() {
        Duration waited = elapsed();
        observation.ended(LockOutcome.REFUSED);
        dispatcher.refused(request, waited);
        return waited;
    }

    void failed(Throwable failure) {
        observation.failed(failure);
        if (failure instanceof LockException ex) {
            dispatcher.failed(request, elapsed(), ex);
        }
    }

    /** Its call was refused because of another key, of which listeners learn. */
    void refusedByOther() {
        observation.ended(LockOutcome.REFUSED);
    }
}
