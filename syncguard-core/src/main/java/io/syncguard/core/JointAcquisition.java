package io.syncguard.core;

import io.syncguard.LockLostException;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.concurrent.RunningBody;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.JointExtent;
import io.syncguard.spi.JointResult;
import io.syncguard.spi.LockBackend;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Acquires several locks of one call, all or none.
 *
 * <ol>
 *   <li>The keys are put in order: by server, then by their bytes. All calls have the same order, so no two of them wait
 *       for each other.
 *   <li>A call that does not wait takes all keys of a server in one step. If there are several servers, it looks at all
 *       of them before.
 *   <li>A call that waits takes the keys in front of the first that is not free, in one step for each server. Then it
 *       waits in the queue of that one, and goes on behind it.
 *   <li>A call that is refused, or fails, gives back what it took before it returns.
 * </ol>
 *
 * <p>Used by one thread.
 */
final class JointAcquisition {

    private final Acquirer acquirer;
    private final LockBackend backend;
    private final LeaseHandles leases;
    private final BackgroundReleaser releaser;
    private final Time time;
    private final boolean waits;
    private final long began;
    private final long deadline;
    private final List<KeyAttempt> attempts;

    /** The handles of the first attempts, in their order. */
    private final List<LeaseHandle> handles = new ArrayList<>();

    private @Nullable LockNotAcquiredException refusal;

    /** @param requests for different keys */
    JointAcquisition(
            Acquirer acquirer,
            LockBackend backend,
            LeaseHandles leases,
            BackgroundReleaser releaser,
            Time time,
            List<LockRequest> requests,
            Duration waitTime) {
        this.acquirer = acquirer;
        this.backend = backend;
        this.leases = leases;
        this.releaser = releaser;
        this.time = time;
        this.waits = !waitTime.isZero();
        this.began = time.nanoTime();
        this.deadline = began + waitTime.toNanos();
        this.attempts = requests.stream()
                .map(acquirer::attempt)
                .sorted(Comparator.<KeyAttempt>comparingInt(this::serverOf)
                        .thenComparing(
                                attempt -> attempt.key().getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned))
                .toList();
    }

    /** The handles, bound to the running transaction; {@code null} if the call was refused. */
    @Nullable
    List<LeaseHandle> acquire() {
        try {
            if (!waits && serverOf(attempts.get(0)) != serverOf(attempts.get(attempts.size() - 1))) {
                look();
            }
            while (refusal == null && handles.size() < attempts.size()) {
                acquireNext();
            }
            if (refusal == null) {
                handles.forEach(handle -> handle.bindTransaction(handle.request()));
                return handles;
            }
            leases.giveBack(handles, refusal);
            return null;
        } catch (Throwable ex) {
            leases.giveBack(handles, ex);
            throw ex;
        }
    }

    /** Why the call was refused. */
    LockNotAcquiredException refusal() {
        return Objects.requireNonNull(refusal);
    }

    private void look() {
        for (int from = 0; from < attempts.size() && refusal == null; ) {
            List<KeyAttempt> step = stepFrom(from);
            LockRequest first = step.get(0).request();
            JointResult.Refusal refused = send(step, JointExtent.NOTHING, () -> acquirer.report(first))
                    .refusal();
            if (refused != null) {
                refuse(refused, acquirer.report(step.get(refused.position()).request()));
            }
            from += step.size();
        }
    }

    private void acquireNext() {
        List<KeyAttempt> step = stepFrom(handles.size());
        AcquireReport first = acquirer.report(step.get(0).request());
        long sentAt = time.nanoTime();
        JointResult result = send(step, waits ? JointExtent.IN_FRONT : JointExtent.ALL, () -> first);
        List<GrantedLease> grants = granted(step, result, sentAt, first);
        handles.addAll(leases.begin(grants));
        JointResult.Refusal refused = result.refusal();
        if (refused == null) {
            return;
        }
        KeyAttempt next = step.get(refused.position());
        AcquireReport report = refused.position() == 0 ? first : acquirer.report(next.request());
        if (sentAt < deadline) {
            waitFor(acquirer.new Acquisition(next, report, deadline));
            return;
        }
        refuse(refused, report);
        if (report != first && grants.isEmpty()) {
            first.refusedByOther();
        }
    }

    private void waitFor(Acquirer.Acquisition acquisition) {
        GrantedLease grant = acquireUnderLocks(acquisition);
        if (grant == null) {
            refusal = acquisition.refusal();
            return;
        }
        handles.add(leases.begin(grant));
        requireHeld(null);
    }

    /** The loss of a lock in front ends the wait. */
    private @Nullable GrantedLease acquireUnderLocks(Acquirer.Acquisition acquisition) {
        RunningBody wait = new RunningBody(Thread.currentThread());
        handles.forEach(handle -> handle.bodies().add(wait));
        try {
            requireHeld(null);
            return acquisition.acquire();
        } catch (Throwable ex) {
            if (wait.explains(ex)) {
                requireHeld(ex);
            }
            throw ex;
        } finally {
            handles.forEach(handle -> handle.bodies().remove(wait));
            BodyScope.endInterruptible(wait);
        }
    }

    private void requireHeld(@Nullable Throwable cause) {
        for (LeaseHandle handle : handles) {
            if (!handle.isHeld()) {
                throw new LockLostException(
                        handle.key(),
                        "Lock '" + handle.key() + "' was lost while the call waited for its other locks; the body did"
                                + " not run",
                        cause);
            }
        }
    }

    /** The attempts from this one on that one server decides. */
    private List<KeyAttempt> stepFrom(int first) {
        int server = serverOf(attempts.get(first));
        int end = IntStream.range(first, attempts.size())
                .filter(i -> serverOf(attempts.get(i)) != server)
                .findFirst()
                .orElse(attempts.size());
        return attempts.subList(first, end);
    }

    private int serverOf(KeyAttempt attempt) {
        return backend.serverOf(attempt.sent().lockId());
    }

    /** @param report of the first key, for a failure */
    private JointResult send(List<KeyAttempt> step, JointExtent extent, Supplier<AcquireReport> report) {
        try {
            return acquirer.send(step.get(0).key(), () -> {
                try {
                    return backend.acquireTogether(
                            step.stream().map(KeyAttempt::sent).toList(), extent);
                } catch (Throwable ex) {
                    if (BackendFailure.isInDoubt(ex)) {
                        releaseInDoubt(step);
                    }
                    throw ex;
                }
            });
        } catch (Throwable ex) {
            report.get().failed(ex);
            Acquirer.throwUnavailable(ex);
            throw ex;
        }
    }

    /** @param first the report of the first key */
    private List<GrantedLease> granted(List<KeyAttempt> step, JointResult result, long sentAt, AcquireReport first) {
        Duration waited = Duration.ofNanos(time.nanoTime() - began);
        try {
            requireComplete(step, result);
            List<GrantedLease> grants = new ArrayList<>();
            for (AcquireResult.Granted answer : result.grants()) {
                KeyAttempt attempt = step.get(grants.size());
                Confirmation confirmation =
                        Confirmation.of(sentAt, attempt.sent().ttl(), answer.expiresAt());
                grants.add(acquirer.granted(attempt, confirmation, answer, waited));
            }
            for (int i = 0; i < grants.size(); i++) {
                (i == 0 ? first : acquirer.report(grants.get(i).request())).granted();
            }
            return grants;
        } catch (Throwable ex) {
            first.failed(ex);
            releaseInDoubt(step);
            throw ex;
        }
    }

    /** An answer with a gap would repeat the step for ever, or leave a key out. */
    private void requireComplete(List<KeyAttempt> step, JointResult result) {
        JointResult.Refusal refused = result.refusal();
        int expected = refused == null ? step.size() : waits ? refused.position() : 0;
        if (result.grants().size() != expected) {
            throw new IllegalStateException(result.grants().size() + " grants, but " + expected + " of " + step.size()
                    + " keys can be granted");
        }
    }

    private void releaseInDoubt(List<KeyAttempt> step) {
        step.forEach(attempt -> releaser.releaseInDoubt(
                attempt.sent().keyedLockId(), attempt.sent().ttl()));
    }

    private void refuse(JointResult.Refusal refused, AcquireReport report) {
        Contention contention = new Contention(report.key(), refused.result().holder());
        report.contended(contention);
        refusal = acquirer.refusal(contention, report.refused());
    }
}
