package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import io.syncguard.postgres.batching.BatchSender;
import io.syncguard.postgres.batching.Batcher;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.JointExtent;
import io.syncguard.spi.JointResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpSubscriber;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sends the acquire requests and releases of callers; under load, in batches. */
final class CallerRequests implements AutoCloseable {

    /** Maximum number of acquire requests in one statement, and of releases. */
    private static final int BATCH_SIZE = 64;

    /**
     * Two threads never wait for each other. From the third on, sharing a statement costs less than sending another
     * one.
     */
    private static final int STATEMENTS = 2;

    private final AcquireSender acquire;
    private final ReleaseSender release;

    /**
     * Releases several leases of one caller. Sends hand-overs as messages: in an answer, one would wait for the other
     * answers.
     */
    private final ReleaseSender releaseWithMessages;

    private final @Nullable Batcher<AcquireRequest, AcquireResult> acquireBatches;
    private final @Nullable Batcher<KeyedLockId, ReleaseResult> releaseBatches;

    /**
     * @param contended the keys for which somebody probably waits
     * @param wakeUps gives the current subscriber for wake-ups of this process; {@code null} while there is none
     * @param limits {@code null} for a statement for each request, which tests of races need
     */
    CallerRequests(
            PostgresSettings settings,
            PostgresConnections connections,
            ReleaseStatement release,
            ContendedKeys contended,
            Supplier<@Nullable WakeUpSubscriber> wakeUps,
            Time time,
            Batcher.@Nullable Limits limits) {
        this.acquire = new AcquireSender(new AcquireStatement(settings), release, connections, contended, wakeUps);
        this.acquireBatches = batcher("syncguard-acquire-batch", this.acquire, limits, time);
        this.release = new ReleaseSender(release, connections.uninterruptible(), acquireBatches, contended, wakeUps);
        this.releaseWithMessages =
                new ReleaseSender(release, connections.uninterruptible(), null, contended, () -> null);
        this.releaseBatches = batcher("syncguard-release-batch", this.release, limits, time);
    }

    AcquireResult acquire(AcquireRequest request) {
        return acquireBatches == null ? acquire.sendAlone(request, Time.NEVER) : acquireBatches.send(request);
    }

    JointResult acquireTogether(List<AcquireRequest> requests, JointExtent extent) {
        return acquire.sendJoint(requests, extent);
    }

    /** Sends one statement, and another one for each lease that it skips. */
    List<ReleaseResult> releaseTogether(List<KeyedLockId> ids) {
        List<@Nullable ReleaseResult> together = sendTogether(releaseWithMessages, ids);
        List<ReleaseResult> results = new ArrayList<>();
        for (int i = 0; i < ids.size(); i++) {
            ReleaseResult result = together.get(i);
            results.add(result == null ? releaseSkipped(ids.get(i)) : result);
        }
        return results;
    }

    /** A failure leaves the whole call in doubt, because other leases of it may have been released before. */
    private ReleaseResult releaseSkipped(KeyedLockId id) {
        try {
            return releaseWithMessages.sendAlone(id, Time.NEVER);
        } catch (LockBackendException ex) {
            throw new LockBackendException(LockErrorCode.SERVICE_UNAVAILABLE, String.valueOf(ex.getMessage()), ex);
        }
    }

    /** Returns only {@code null}s if the server has reported that it rolled the batch back. */
    private static <Q, A> List<@Nullable A> sendTogether(PostgresBatchSender<Q, A> sender, List<Q> requests) {
        try {
            return sender.sendTogether(requests);
        } catch (RuntimeException ex) {
            RuntimeException failure = sender.failureOf(requests.get(0), ex);
            if (failure != null) {
                throw failure;
            }
            return Collections.nCopies(requests.size(), null);
        }
    }

    ReleaseResult release(KeyedLockId id) {
        return releaseBatches == null ? release.sendAlone(id, Time.NEVER) : releaseBatches.send(id);
    }

    /** Waits for batches that may grant locks to callers who have left. */
    @Override
    public void close() {
        if (releaseBatches != null) {
            Shielded.closeAll(releaseBatches);
        }
        if (acquireBatches != null) {
            Shielded.closeAll(acquireBatches, acquireBatches::awaitLeft);
        }
    }

    /** @param batchesOnly whether a request that comes alone is a batch, too; for tests */
    static Batcher.Limits limits(PostgresSettings settings, boolean batchesOnly) {
        return new Batcher.Limits(STATEMENTS, BATCH_SIZE, settings.timeout(), batchesOnly);
    }

    private static <Q, A> @Nullable Batcher<Q, A> batcher(
            String name, BatchSender<Q, A> sender, Batcher.@Nullable Limits limits, Time time) {
        return limits == null ? null : new Batcher<>(name, sender, limits, time);
    }
}
