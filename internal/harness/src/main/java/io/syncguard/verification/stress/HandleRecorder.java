package io.syncguard.verification.stress;

import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockMode;
import io.syncguard.verification.history.HistoryEvent;
import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.recording.HistoryRecorder;
import io.syncguard.verification.recording.Recording;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Uses the handles of a client, and records their answers. */
final class HandleRecorder {

    private final LockManager locks;
    private final @Nullable StressDatabase database;
    private final @Nullable TransactionTemplate transactions;
    private final HistoryRecorder recorder;

    /** @param database null if the applications have no data, only locks; then there are no transactions either */
    HandleRecorder(
            LockManager locks,
            @Nullable StressDatabase database,
            @Nullable TransactionTemplate transactions,
            HistoryRecorder recorder) {
        this.transactions = transactions;
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
        if (database == null || lock.request().mode() == LockMode.SHARED) {
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

    /** Increases the version of the key in a transaction of its own, which the lock guards until it is committed. */
    void commit(LockHandle lock) {
        if (database == null
                || transactions == null
                || lock.request().mode() == LockMode.SHARED
                || TransactionSynchronizationManager.isActualTransactionActive()) {
            return;
        }
        HistoryEvent asked =
                begin(Kind.COMMITTED, lock).with(Lease.ofFence(lock.fence().value()));
        try {
            long version = Objects.requireNonNull(
                    transactions.execute(status -> database.nextVersion("guarded " + lock.key())));
            recorder.write(asked.answered(System.nanoTime(), Outcome.OK).with(version));
        } catch (LockLostException ex) {
            recorder.write(asked.answered(System.nanoTime(), Outcome.REFUSED));
            throw ex;
        }
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
