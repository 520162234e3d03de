package io.syncguard.core;

import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.concurrent.RunningBody;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.Answers;
import io.syncguard.spi.GrantExtent;
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
 *   <li>The keys are put in order: by server, then by their bytes. All calls have the same order, so no two of them
 *       wait for each other.
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

    /** The answers to the requests of one step. */
    private record Answer(List<AcquireResult> results) {

        /** The position of the refused request; -1 if there is none. */
        int refusedAt() {
            return IntStream.range(0, results.size())
                    .filter(i -> results.get(i) instanceof AcquireResult.Refused)
                    .findFirst()
                    .orElse(-1);
        }

        boolean isRefused() {
            return refusedAt() >= 0;
        }

        AcquireResult.@Nullable Holder holder() {
            return ((AcquireResult.Refused) results.get(refusedAt())).holder();
        }

        List<AcquireResult.Granted> grants() {
            return results.stream()
                    .takeWhile(AcquireResult.Granted.class::isInstance)
                    .map(AcquireResult.Granted.class::cast)
                    .toList();
        }

        /** An answer with a gap would repeat the step for ever, or leave a key out. */
        void requireComplete(int requests, boolean waits) {
            int expected = !isRefused() ? requests : waits ? refusedAt() : 0;
            if (grants().size() != expected) {
                throw new IllegalStateException(
                        grants().size() + " grants, but " + expected + " of " + requests + " keys can be granted");
            }
        }
    }

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
            Answer answer = send(step, GrantExtent.NOTHING, () -> acquirer.report(first));
            if (answer.isRefused()) {
                refuse(answer, acquirer.report(step.get(answer.refusedAt()).request()));
            }
            from += step.size();
        }
    }

    private void acquireNext() {
        List<KeyAttempt> step = stepFrom(handles.size());
        AcquireReport first = acquirer.report(step.get(0).request());
        long sentAt = time.nanoTime();
        Answer answer = send(step, waits ? GrantExtent.IN_FRONT : GrantExtent.ALL, () -> first);
        List<GrantedLease> grants = granted(step, answer, sentAt, first);
        handles.addAll(leases.begin(grants));
        if (!answer.isRefused()) {
            return;
        }
        KeyAttempt next = step.get(answer.refusedAt());
        AcquireReport report = answer.refusedAt() == 0 ? first : acquirer.report(next.request());
        if (sentAt < deadline) {
            waitFor(acquirer.new Acquisition(next, report, deadline));
            return;
        }
        refuse(answer, report);
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
                throw handle.lostException("while the call waited for its other locks", "The body did not run", cause);
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
    private Answer send(List<KeyAttempt> step, GrantExtent extent, Supplier<AcquireReport> report) {
        List<AcquireRequest> requests = step.stream().map(KeyAttempt::sent).toList();
        try {
            return acquirer.send(step.get(0).key(), () -> {
                try {
                    return new Answer(Answers.await(() -> backend.acquire(requests, extent)));
                } catch (Throwable ex) {
                    if (BackendFailure.isInDoubt(ex)) {
                        releaseInDoubt(step);
                    }
                    throw ex;
                }
            });
        } catch (Throwable ex) {
            report.get().failed(ex);
            Acquirer.throwForCaller(ex);
            throw ex;
        }
    }

    /** @param first the report of the first key */
    private List<GrantedLease> granted(List<KeyAttempt> step, Answer answer, long sentAt, AcquireReport first) {
        Duration waited = Duration.ofNanos(time.nanoTime() - began);
        try {
            answer.requireComplete(step.size(), waits);
            List<GrantedLease> grants = new ArrayList<>();
            for (AcquireResult.Granted grant : answer.grants()) {
                KeyAttempt attempt = step.get(grants.size());
                Confirmation confirmation = Confirmation.of(sentAt, attempt.ttl(), grant.expiresAt());
                grants.add(acquirer.granted(attempt, confirmation, grant, waited));
            }
            for (int i = 0; i < grants.size(); i++) {
                GrantedLease grant = grants.get(i);
                grants.set(i, (i == 0 ? first : acquirer.report(grant.request())).granted(grant));
            }
            return grants;
        } catch (Throwable ex) {
            first.failed(ex);
            releaseInDoubt(step);
            throw ex;
        }
    }

    private void releaseInDoubt(List<KeyAttempt> step) {
        step.forEach(attempt -> releaser.releaseInDoubt(attempt.keyedLockId(), attempt.ttl()));
    }

    private void refuse(Answer answer, AcquireReport report) {
        Contention contention = new Contention(report.key(), answer.holder());
        report.contended(contention);
        refusal = acquirer.refusal(contention, report.refused());
    }
}
