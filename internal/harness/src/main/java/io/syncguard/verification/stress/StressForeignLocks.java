package io.syncguard.verification.stress;

import io.syncguard.LockInfo;
import io.syncguard.LockManager;
import io.syncguard.LockMode;
import io.syncguard.verification.history.HistoryEvent;
import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.recording.HistoryRecorder;
import io.syncguard.verification.recording.KnownLockIds;
import io.syncguard.verification.recording.StressStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Looks up, extends and releases locks that the client does not hold, by their lock ids.
 */
final class StressForeignLocks {

    private final LockManager locks;
    private final @Nullable StressStore store;
    private final HistoryRecorder recorder;
    private final KnownLockIds known;
    private final Random random;

    StressForeignLocks(
            LockManager locks,
            @Nullable StressStore store,
            HistoryRecorder recorder,
            KnownLockIds known,
            Random random) {
        this.locks = locks;
        this.store = store;
        this.recorder = recorder;
        this.known = known;
        this.random = random;
    }

    void next() {
        int what = random.nextInt(24);
        if (what < 15) {
            look();
        } else {
            actById(what < 22 ? known.any(random) : anyLock());
        }
    }

    private void look() {
        String lockId = chance(50) ? known.any(random) : null;
        if (lockId == null) {
            lookAt(StressClient.randomKey(random));
        } else {
            lookById(lockId);
        }
    }

    private void lookAt(String key) {
        HistoryEvent asked = recorder.begin(Kind.LOOKUP, Thread.currentThread().getName(), key, "");
        if (chance(30)) {
            if (!locks.isLocked(key)) {
                recorder.write(asked.answered(System.nanoTime(), Outcome.NOT_HELD));
            }
            return;
        }
        List<LockInfo> holders = chance(50)
                ? locks.admin().holders(key)
                : locks.admin().lookup(key).stream().toList();
        if (holders.isEmpty()) {
            recorder.write(asked.answered(System.nanoTime(), Outcome.NOT_HELD));
        }
        holders.forEach(info -> recorder.write(recorder.again(found(asked, Optional.of(info)))));
    }

    private void lookById(String lockId) {
        HistoryEvent asked = recorder.begin(
                Kind.LOOKUP, Thread.currentThread().getName(), known.keyOf(lockId), HistoryRecorder.hash(lockId));
        if (chance(30)) {
            boolean owns = locks.owns(lockId);
            recorder.write(asked.answered(System.nanoTime(), owns ? Outcome.OK : Outcome.NOT_HELD));
            return;
        }
        recorder.write(found(asked, locks.admin().lookupById(lockId)));
    }

    private static HistoryEvent found(HistoryEvent asked, Optional<LockInfo> found) {
        long now = System.nanoTime();
        return found.map(info -> asked.answered(now, Outcome.OK)
                        .ofLock(info.lockIdHash())
                        .with(new Lease(
                                info.fence().value(),
                                0,
                                info.acquiredAt().toEpochMilli(),
                                info.expiresAt().toEpochMilli(),
                                info.mode() == LockMode.SHARED)))
                .orElseGet(() -> asked.answered(now, Outcome.NOT_HELD));
    }

    private void actById(String lockId) {
        if (lockId == null) {
            return;
        }
        if (chance(50)) {
            locks.release(lockId);
        } else {
            locks.extend(
                    lockId,
                    Duration.ofMillis(StressClient.TTLS_MILLIS[random.nextInt(StressClient.TTLS_MILLIS.length)]));
        }
        lookById(lockId);
    }

    /** Returns a lock id as if its holder had passed it on. Most are of other processes. */
    private String anyLock() {
        if (store == null) {
            return known.any(random);
        }
        Optional<StressStore.Known> found = store.anyLock(random);
        found.ifPresent(lock -> known.add(lock.key(), lock.lockId()));
        return found.map(StressStore.Known::lockId).orElse(null);
    }

    private boolean chance(int percent) {
        return random.nextInt(100) < percent;
    }
}
