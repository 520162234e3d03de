package io.syncguard.core;

import io.syncguard.LockReason;
import io.syncguard.OneLine;
import io.syncguard.concurrent.Shielded;
import io.syncguard.spi.Answers;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseRequest;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.ReleaseResult.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Releases locks on the caller's thread. It ignores interrupts, whenever they come. The {@link BackgroundReleaser}
 * repeats a release that does not succeed. Thread-safe.
 */
final class LockReleaser {

    private static final Log log = LogFactory.getLog(LockReleaser.class);

    /** How many interrupts may break a release before the background takes it over. */
    private static final int MAX_INTERRUPTS = 1000;

    /** How many leases one request releases. Other clients of a server wait for it for about a millisecond. */
    static final int TOGETHER = 64;

    private final LockBackend backend;
    private final BackgroundReleaser background;
    private final WaiterRegistry waiters;
    private final LeaseMonitor monitor;
    private final LeaseReports reports;

    LockReleaser(
            LockBackend backend,
            BackgroundReleaser background,
            WaiterRegistry waiters,
            LeaseMonitor monitor,
            LeaseReports reports) {
        this.backend = backend;
        this.background = background;
        this.waiters = waiters;
        this.monitor = monitor;
        this.reports = reports;
    }

    /**
     * Releases a lease of this process.
     *
     * @return whether it was held until now
     */
    boolean release(Lease lease) {
        if (!begin(lease)) {
            return false;
        }
        try {
            return send(List.of(lease), lease.holdTime().isEarly()) == 1;
        } finally {
            monitor.remove(lease);
        }
    }

    /** Releases leases of this process, many together, and early ones alone. */
    void release(List<Lease> leases) {
        List<Lease> together = new ArrayList<>();
        for (Lease lease : leases) {
            if (lease.holdTime().isEarly()) {
                Shielded.run(() -> release(lease), ex -> background.release(lease));
            } else if (begin(lease)) {
                together.add(lease);
            }
        }
        sendTogether(together);
    }

    /** Even an Error, such as a lack of memory, keeps no other lease from its release. */
    private void sendTogether(List<Lease> leases) {
        for (int from = 0; from < leases.size(); from += TOGETHER) {
            List<Lease> chunk = leases.subList(from, Math.min(leases.size(), from + TOGETHER));
            Shielded.run(() -> send(chunk, false), ex -> chunk.forEach(background::release));
            chunk.forEach(monitor::remove);
        }
    }

    private boolean begin(Lease lease) {
        if (lease.beginRelease()) {
            return true;
        }
        if (lease.phase() == Lease.Phase.LOST) {
            // The lease may still be live at the server, after a late extension. Its body has ended, so the key can be
            // free.
            background.release(lease);
        }
        return false;
    }

    /**
     * Releases a lease that was lost while a transaction committed under it.
     *
     * @return whether the server had it until now, lapsed or not: then nobody else was granted the key
     */
    boolean releaseAfterCommit(Lease lease) {
        try {
            ReleaseResult result =
                    uninterrupted(List.of(lease), lease.holdTime().isEarly()).get(0);
            if (result.outcome() == Outcome.BUSY) {
                background.release(lease);
            } else {
                background.releaseInDoubt(lease);
            }
            return result.outcome() != Outcome.NOT_FOUND;
        } catch (RuntimeException | Error ex) {
            background.release(lease);
            Shielded.log(() -> log.debug(
                    "Lock '" + OneLine.of(lease.key()) + "' is reported as lost: the server does not tell whether it"
                            + " kept it until the body ended",
                    ex));
            return false;
        }
    }

    /**
     * Releases a lease of another process.
     *
     * @param patience how long the background repeats it while another transaction locks the row
     * @return whether it was held until now
     */
    boolean release(String lockId, Duration patience) {
        KeyedLockId id = new KeyedLockId(lockId);
        // The key of another process is not known here, so all waiters look after a lost answer.
        ReleaseResult result = uninterrupted(List.of(ReleaseRequest.handingOver(id)), waiters::wakeUpsMissed)
                .get(0);
        if (result.outcome() == Outcome.BUSY) {
            background.release(id, patience);
        }
        return result.outcome() == Outcome.RELEASED || result.outcome() == Outcome.BUSY;
    }

    /** @param early whether the only lease stays until its least time is over. No thread waits for that */
    private int send(List<Lease> leases, boolean early) {
        LeaseReports.Release report = reports.release(leases);
        List<ReleaseResult> results;
        try {
            results = uninterrupted(leases, early);
        } catch (Throwable ex) {
            // As after a busy answer, the lease is unchanged and the release is repeated: the key must not stay taken.
            // The same holds for an Error, such as a lack of memory or threads. Listeners may block, so they run after
            // that.
            leases.forEach(background::release);
            leases.forEach(lease -> Shielded.log(
                    () -> log.warn("Lock '" + OneLine.of(lease.key()) + "' could not be released; trying again", ex)));
            report.failed(ex);
            leases.forEach(this::ended);
            return leases.size();
        }
        report.answered(i -> isLost(results.get(i)));
        int held = 0;
        for (int i = 0; i < results.size(); i++) {
            held += accept(leases.get(i), results.get(i)) ? 1 : 0;
        }
        return held;
    }

    /** @param early whether the only lease stays until its least time is over */
    List<ReleaseResult> uninterrupted(List<Lease> leases, boolean early) {
        return uninterrupted(
                leases.stream().map(lease -> request(lease, early)).toList(),
                () -> leases.forEach(lease -> waiters.lookAtOnce(lease.key())));
    }

    private static ReleaseRequest request(Lease lease, boolean early) {
        return early
                ? ReleaseRequest.heldFor(lease.keyedLockId(), lease.holdTime().atLeast())
                : ReleaseRequest.handingOver(lease.keyedLockId());
    }

    /**
     * A pool gives no connection to an interrupted thread, and an interrupt may break the connection of a virtual one.
     * So the flag is cleared while the release is sent, and a release that an interrupt broke is sent again.
     *
     * <p>Hand-overs in the answer are delivered before anything else can fail.
     *
     * @param look wakes the waiters to whom a release with a lost answer may have granted the key
     */
    private List<ReleaseResult> uninterrupted(List<ReleaseRequest> requests, Runnable look) {
        boolean interrupted = false;
        boolean inDoubt = false;
        try {
            for (int tries = 0; ; tries++) {
                interrupted |= Thread.interrupted();
                try {
                    List<ReleaseResult> results = decided(requests);
                    return inDoubt ? afterLostAnswer(results, look) : results;
                } catch (Throwable ex) {
                    // If there are several, some may have been released before the error.
                    inDoubt |= requests.size() > 1 || BackendFailure.isInDoubt(ex);
                    if (inDoubt) {
                        Shielded.run(look, LockReleaser::logMissedLook);
                    }
                    if (!Thread.currentThread().isInterrupted() || tries == MAX_INTERRUPTS) {
                        throw ex;
                    }
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Sends the releases of one server together, and alone what the store has not decided. */
    private List<ReleaseResult> decided(List<ReleaseRequest> requests) {
        if (requests.size() == 1) {
            return answers(requests);
        }
        Map<List<ReleaseRequest>, CompletionStage<List<ReleaseResult>>> sent = new LinkedHashMap<>();
        requests.stream()
                .collect(
                        Collectors.groupingBy(each -> backend.serverOf(each.id().lockId())))
                .values()
                .forEach(ofServer -> sent.put(ofServer, backend.release(ofServer)));
        Map<ReleaseRequest, ReleaseResult> results = new HashMap<>();
        sent.forEach((ofServer, answer) -> {
            List<ReleaseResult> answers = answers(ofServer, answer);
            for (int i = 0; i < answers.size(); i++) {
                results.put(ofServer.get(i), answers.get(i));
            }
        });
        results.replaceAll((request, result) -> result.outcome() == Outcome.UNDECIDED
                ? answers(List.of(request)).get(0)
                : result);
        return requests.stream().map(results::get).toList();
    }

    private List<ReleaseResult> answers(List<ReleaseRequest> requests) {
        return answers(requests, backend.release(requests));
    }

    private List<ReleaseResult> answers(List<ReleaseRequest> requests, CompletionStage<List<ReleaseResult>> answer) {
        List<ReleaseResult> results = Answers.await(() -> answer);
        results.forEach(this::deliver);
        if (results.size() != requests.size()) {
            throw new IllegalStateException(results.size() + " answers to " + requests.size() + " releases");
        }
        return results;
    }

    /** The release whose answer was lost has ended the lease, perhaps after the waiters looked for the first time. */
    private static List<ReleaseResult> afterLostAnswer(List<ReleaseResult> results, Runnable look) {
        Shielded.run(look, LockReleaser::logMissedLook);
        return results.stream()
                .map(result -> result.outcome() == Outcome.NOT_FOUND ? ReleaseResult.RELEASED : result)
                .toList();
    }

    private static void logMissedLook(Throwable ex) {
        log.debug("Waiters look only at their next safety poll", ex);
    }

    private void deliver(ReleaseResult result) {
        result.handOvers().forEach(handOver -> waiters.handOver(handOver.waiterNumber(), handOver.grant()));
    }

    private static boolean isLost(ReleaseResult result) {
        return result.outcome() == Outcome.EXPIRED || result.outcome() == Outcome.NOT_FOUND;
    }

    private boolean accept(Lease lease, ReleaseResult result) {
        if (result.outcome() != Outcome.BUSY) {
            background.releaseInDoubt(lease);
        }
        if (result.outcome() == Outcome.EXPIRED) {
            lease.loseAtRelease(LockReason.EXPIRED, "its lease had lapsed at the server when it was released");
            return false;
        }
        if (result.outcome() == Outcome.NOT_FOUND) {
            lease.loseAtRelease(LockReason.NOT_FOUND, "the server did not know it any more when it was released");
            return false;
        }
        if (result.outcome() == Outcome.BUSY) {
            background.release(lease);
        }
        return ended(lease);
    }

    private boolean ended(Lease lease) {
        lease.released();
        reports.released(lease);
        return true;
    }
}
