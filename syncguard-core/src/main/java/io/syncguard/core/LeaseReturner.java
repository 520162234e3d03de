package io.syncguard.core;

import io.syncguard.OneLine;
import io.syncguard.concurrent.Backoff;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.ReleaseResult.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Gives back leases under which nobody has worked, such as those of a call that was refused another key. Their keys are
 * free when it returns, unless the store fails: neither a least time, nor a loss, nor a heartbeat under way delays
 * that. Thread-safe.
 */
final class LeaseReturner {

    private static final Log log = LogFactory.getLog(LeaseReturner.class);

    /** No transaction pins such a lease. A heartbeat locks its row for the time of a commit. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private static final Backoff PAUSES = Backoff.doubling(Duration.ofMillis(1), Duration.ofMillis(20));

    private final LockReleaser releaser;
    private final BackgroundReleaser background;
    private final LeaseMonitor monitor;
    private final LeaseReports reports;
    private final Time time;

    LeaseReturner(
            LockReleaser releaser,
            BackgroundReleaser background,
            LeaseMonitor monitor,
            LeaseReports reports,
            Time time) {
        this.releaser = releaser;
        this.background = background;
        this.monitor = monitor;
        this.reports = reports;
        this.time = time;
    }

    void giveBack(List<Lease> leases) {
        for (int from = 0; from < leases.size(); from += LockReleaser.TOGETHER) {
            List<Lease> chunk = leases.subList(from, Math.min(leases.size(), from + LockReleaser.TOGETHER));
            Shielded.uninterrupted(() -> Shielded.run(() -> send(chunk), ex -> chunk.forEach(this::repeat)));
            chunk.forEach(monitor::remove);
        }
    }

    private void send(List<Lease> leases) {
        List<Lease> held = leases.stream().filter(Lease::beginRelease).toList();
        LeaseReports.Release report = reports.release(held);
        try {
            sendUntilFree(leases).forEach(this::repeat);
            report.answered(i -> false);
        } catch (Throwable ex) {
            leases.forEach(this::repeat);
            Shielded.log(() ->
                    log.warn("Lock '" + OneLine.of(leases.get(0).key()) + "' could not be released; trying again", ex));
            report.failed(ex);
        }
        // Nobody has worked under one that was lost meanwhile.
        held.forEach(Lease::released);
        held.forEach(reports::released);
    }

    /** Returns the leases whose rows stayed locked. */
    private List<Lease> sendUntilFree(List<Lease> leases) {
        List<Lease> left = leases;
        long until = time.nanoTime() + PATIENCE.toNanos();
        for (int tries = 0; !left.isEmpty() && isTimeFor(tries, until); tries++) {
            List<ReleaseResult> results = releaser.uninterrupted(left, false);
            List<Lease> busy = new ArrayList<>();
            for (int i = 0; i < left.size(); i++) {
                if (results.get(i).outcome() == Outcome.BUSY) {
                    busy.add(left.get(i));
                } else {
                    background.releaseInDoubt(left.get(i));
                }
            }
            left = busy;
        }
        return left;
    }

    /** Pauses before another try. Returns {@code false} if there is no time for it. */
    private boolean isTimeFor(int tries, long until) {
        if (tries == 0) {
            return true;
        }
        if (time.nanoTime() >= until) {
            return false;
        }
        try {
            time.sleep(PAUSES.pauseNanos(tries));
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        return true;
    }

    /** By the lock id alone: the least time of the lease does not count. */
    private void repeat(Lease lease) {
        background.release(lease.keyedLockId(), lease.confirmed().ttl());
    }
}
