package io.syncguard.core;

import io.syncguard.LockRequest;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.LockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The first attempt of an acquisition, which tries further keys along with its own. It keeps the grants up to the first
 * key that was refused, and releases later ones in the background: a caller that waits for one key must not hold a
 * later one, because the holder of the first may wait for that. Used by one thread.
 */
final class JointAttempt {

    private final LockBackend backend;
    private final BackgroundReleaser releaser;
    private final Time time;
    private final List<LockRequest> others;
    private final List<AcquireRequest> attempts;
    private final Consumer<AcquireRequest> granted;

    /** The answers to the other requests. */
    private List<@Nullable AcquireResult> results = List.of();

    private long sentAt;

    /**
     * @param attempts one for each of the other requests, in their order
     * @param granted receives each of them that the server has granted
     */
    JointAttempt(
            LockBackend backend,
            BackgroundReleaser releaser,
            Time time,
            List<LockRequest> others,
            List<AcquireRequest> attempts,
            Consumer<AcquireRequest> granted) {
        this.backend = backend;
        this.releaser = releaser;
        this.time = time;
        this.others = others;
        this.attempts = attempts;
        this.granted = granted;
    }

    /** Returns the answer for the first key; {@code null} if that one has to be sent alone. */
    @Nullable
    AcquireResult send(AcquireRequest first) {
        List<AcquireRequest> all = new ArrayList<>(List.of(first));
        all.addAll(attempts);
        List<@Nullable AcquireResult> answers;
        sentAt = time.nanoTime();
        try {
            answers = backend.acquireTogether(all);
            if (answers.size() != all.size()) {
                throw new IllegalStateException(answers.size() + " answers to " + all.size() + " requests");
            }
        } catch (Throwable ex) {
            if (InDoubt.is(ex)) {
                attempts.forEach(each -> releaser.releaseInDoubt(each.keyedLockId(), each.ttl()));
            }
            throw ex;
        }
        results = answers.subList(1, answers.size());
        grantedFrom(0).forEach(granted);
        if (!(answers.get(0) instanceof AcquireResult.Granted)) {
            giveBack(0);
            results = List.of();
        }
        return answers.get(0);
    }

    /**
     * The leases of the other keys, in their order, up to the first one that was not granted.
     *
     * @param waited how long the acquisition of the first key took, and so of these
     */
    List<GrantedLease> granted(Duration waited) {
        List<GrantedLease> leases = new ArrayList<>();
        for (int i = 0; i < results.size(); i++) {
            AcquireRequest attempt = attempts.get(i);
            if (!(results.get(i) instanceof AcquireResult.Granted grant)) {
                break;
            }
            Confirmation confirmation = Confirmation.of(sentAt, attempt.ttl(), grant.expiresAt());
            if (time.nanoTime() >= confirmation.deadline()) {
                break;
            }
            leases.add(new GrantedLease(others.get(i), attempt.lockId(), grant.fence(), confirmation, waited));
        }
        return leases;
    }

    /** Releases the grants of the other requests, except those of the first {@code except} ones. */
    void giveBack(int except) {
        List<AcquireRequest> unused = grantedFrom(except);
        if (!unused.isEmpty()) {
            releaser.releaseAll(unused);
        }
    }

    private List<AcquireRequest> grantedFrom(int first) {
        List<AcquireRequest> all = new ArrayList<>();
        for (int i = first; i < results.size(); i++) {
            if (results.get(i) instanceof AcquireResult.Granted) {
                all.add(attempts.get(i));
            }
        }
        return all;
    }
}
