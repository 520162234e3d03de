package io.syncguard.verification.recording;

import io.syncguard.LockEvent;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.spi.LockBackend;
import io.syncguard.verification.history.HistoryEvent;
import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.history.HistoryEvent.Source;
import java.nio.file.Path;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The history of one process, for applications that use nothing else of this package. */
public final class Recording implements AutoCloseable {

    private final HistoryRecorder recorder;

    /**
     * @param process name and incarnation of the process
     * @param file the file of its history
     */
    public Recording(String process, Path file) {
        this.recorder = new HistoryRecorder(process, file);
    }

    /** Records the requests to a store that takes each request of a caller alone. */
    public LockBackend backend(LockBackend store) {
        return new RecordedBackend(store, recorder, new KnownLockIds());
    }

    /** Records the losses. */
    public LockListener losses() {
        return losses(recorder);
    }

    public static LockListener losses(HistoryRecorder recorder) {
        return new LockListener() {
            @Override
            public void lost(LockEvent event) {
                HistoryEvent lost = recorder.begin(Kind.LOST, "listener", event.key(), "");
                recorder.write(lost.answered(lost.start(), Outcome.OK)
                        .with(Lease.ofFence(event.fence().value())));
            }
        };
    }

    /**
     * Asks the handle whether it is held, and records the answer.
     *
     * @return whether it is held
     */
    public boolean isHeld(LockHandle lock) {
        return isHeld(lock, recorder);
    }

    public static boolean isHeld(LockHandle lock, HistoryRecorder recorder) {
        HistoryEvent asked = begin(Kind.HELD, lock, recorder);
        long left = lock.remaining().toNanos();
        if (left > 0) {
            recorder.write(asked.answered(System.nanoTime(), Outcome.OK).with(left));
            return true;
        }
        HistoryEvent askedAgain = begin(Kind.HELD, lock, recorder);
        LockHandle.State state = lock.state();
        if (state == LockHandle.State.HELD) {
            recorder.write(askedAgain.answered(System.nanoTime(), Outcome.OK));
        } else if (state == LockHandle.State.LOST) {
            HistoryEvent seen = begin(Kind.LOSS_SEEN, lock, recorder);
            recorder.write(seen.answered(System.nanoTime(), Outcome.OK));
        }
        return state == LockHandle.State.HELD;
    }

    public static HistoryEvent begin(Kind kind, LockHandle lock, HistoryRecorder recorder) {
        return recorder.begin(kind, Thread.currentThread().getName(), lock.key(), HistoryRecorder.hash(lock.lockId()));
    }

    /** Records that the current transaction may pin the lease from now until it has ended. */
    public void mayPin(LockHandle lock) {
        HistoryEvent pinning = begin(Kind.PINNING, lock, recorder);
        recorder.write(pinning);
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void afterCompletion(int status) {
                // Otherwise the connection may be broken while the transaction is still open at the server.
                Outcome outcome = status == STATUS_COMMITTED ? Outcome.OK : Outcome.UNKNOWN;
                recorder.write(pinning.answered(System.nanoTime(), outcome));
            }
        });
    }

    /** Records that another process was killed, and did nothing after this time. */
    public void killed(String process, long at) {
        recorder.write(HistoryEvent.of(Kind.PROCESS_ENDED, new Source(process, "killed", 0), "", "", at)
                .answered(at, Outcome.OK));
    }

    /** Records that the server was killed and started again between these times. */
    public void crashed(long from, long to) {
        recorder.write(HistoryEvent.of(Kind.CRASHED, new Source("server", "killed", from), "", "", from)
                .answered(to, Outcome.OK));
    }

    /** Records the end of all histories: the counters and the live leases. */
    public void store(StressStore store) {
        LastLook.record(store, recorder);
    }

    @Override
    public void close() {
        recorder.close();
    }
}
