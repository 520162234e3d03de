package io.syncguard.verification.stress;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockMode;
import io.syncguard.verification.history.HistoryEvent;
import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.recording.HistoryRecorder;
import io.syncguard.verification.recording.Recording;
import java.time.Duration;
import java.util.Optional;

/** Uses the handles of a client, and records their answers. */
final class HandleRecorder {

    private final LockManager locks;
    private final StressDatabase database;
    private final HistoryRecorder recorder;

    HandleRecorder(LockManager locks, StressDatabase database, HistoryRecorder recorder) {
        this.locks = locks;
        this.database = database;
        this.recorder = recorder;
    }

    /** Sends a nested request under the outer lock. */
    void join(LockHandle outer) {
        HistoryEvent asked = begin(Kind.JOINED, outer);
        LockHandle inner = locks.acquire(outer.request().waitTime(Duration.ZERO));
        recorder.write(asked.answered(System.nanoTime(), Outcome.OK)
                .with(Lease.ofFence(inner.fence().value()))
                .with(outer.fence().value()));
        isHeld(inner);
        inner.release();
    }

    /** Writes as a body does, and checks whether the lock is still held. Does nothing under a shared lock. */
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
        return Recording.isHeld(lock, recorder);
    }

    private HistoryEvent begin(Kind kind, LockHandle lock) {
        return Recording.begin(kind, lock, recorder);
    }
}
