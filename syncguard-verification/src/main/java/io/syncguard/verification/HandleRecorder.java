package io.syncguard.verification;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockMode;
import io.syncguard.verification.HistoryEvent.Kind;
import io.syncguard.verification.HistoryEvent.Lease;
import io.syncguard.verification.HistoryEvent.Outcome;
import java.time.Duration;
import java.util.Optional;

/** Uses the handles of a client, and records what they answer. */
final class HandleRecorder {

    private final LockManager locks;
    private final StressDatabase database;
    private final HistoryRecorder recorder;

    HandleRecorder(LockManager locks, StressDatabase database, HistoryRecorder recorder) {
        this.locks = locks;
        this.database = database;
        this.recorder = recorder;
    }

    /** Runs under the outer lock, so that the request is nested. */
    void join(LockHandle outer) {
        HistoryEvent asked = begin(Kind.JOINED, outer);
        LockHandle inner = locks.acquire(outer.request().waitTime(Duration.ZERO));
        recorder.write(asked.answered(System.nanoTime(), Outcome.OK)
                .with(Lease.ofFence(inner.fence().value()))
                .with(outer.fence().value()));
        isHeld(inner);
        inner.release();
    }

    /** A write like those of a body, and a check whether the lock is held after it. A shared lock does not write. */
    void write(LockHandle lock, boolean guarded) {
        if (lock.request().mode() == LockMode.SHARED) {
            return;
        }
        HistoryEvent asked =
                begin(Kind.EFFECT, lock).with(Lease.ofFence(lock.fence().value()));
        Optional<Long> number = guarded
                ? database.guardedEffect(lock.key(), lock.fence().value())
                : Optional.of(database.unguardedEffect(lock.key(), lock.fence().value()));
        Outcome outcome = isHeld(lock) ? Outcome.OK : Outcome.NOT_HELD;
        HistoryEvent answered = asked.answered(System.nanoTime(), number.isEmpty() ? Outcome.REFUSED : outcome);
        recorder.write(number.map(answered::with).orElse(answered));
    }

    void giveBack(LockHandle lock) {
        HistoryEvent asked = begin(Kind.HANDLE_RELEASED, lock);
        boolean wasHeld = lock.release();
        recorder.write(asked.answered(System.nanoTime(), wasHeld ? Outcome.OK : Outcome.NOT_HELD));
    }

    void watch(LockHandle lock) {
        lock.onLost(() -> {
            HistoryEvent lost = recorder.begin(Kind.LOST, "callback", lock.key(), "");
            recorder.write(lost.answered(lost.start(), Outcome.OK)
                    .with(Lease.ofFence(lock.fence().value())));
        });
    }

    boolean isHeld(LockHandle lock) {
        return isHeld(lock, recorder);
    }

    static boolean isHeld(LockHandle lock, HistoryRecorder recorder) {
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

    private HistoryEvent begin(Kind kind, LockHandle lock) {
        return begin(kind, lock, recorder);
    }

    static HistoryEvent begin(Kind kind, LockHandle lock, HistoryRecorder recorder) {
        return recorder.begin(kind, client(), lock.key(), HistoryRecorder.hash(lock.lockId()));
    }

    private static String client() {
        return Thread.currentThread().getName();
    }
}
