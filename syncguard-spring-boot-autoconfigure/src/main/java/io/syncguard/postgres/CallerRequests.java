package io.syncguard.postgres;

import io.syncguard.concurrent.BatchSender;
import io.syncguard.concurrent.Batcher;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpSubscriber;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sends the acquire requests and releases of callers, under load in batches. */
final class CallerRequests implements AutoCloseable {

    /** How many acquire requests one statement has at most, and how many releases. */
    private static final int BATCH_SIZE = 64;

    /** While two commits are on their way to the disk, a third would wait for the second. */
    private static final int ACQUIRE_STATEMENTS = 2;

    /** A release does not wait for the disk. */
    private static final int RELEASE_STATEMENTS = 1;

    private final AcquireSender acquire;
    private final ReleaseSender release;
    private final @Nullable Batcher<AcquireRequest, AcquireResult> acquireBatches;
    private final @Nullable Batcher<String, ReleaseResult> releaseBatches;

    /** @param wakeUps where this process is woken at this moment */
    CallerRequests(
            PostgresSettings settings,
            PostgresConnections connections,
            ReleaseStatement release,
            Supplier<@Nullable WakeUpSubscriber> wakeUps,
            Time time) {
        this.acquire = new AcquireSender(new AcquireStatement(settings), connections, wakeUps);
        this.release = new ReleaseSender(release, connections);
        this.acquireBatches = batcher("syncguard-acquire-batch", this.acquire, ACQUIRE_STATEMENTS, settings, time);
        this.releaseBatches = batcher("syncguard-release-batch", this.release, RELEASE_STATEMENTS, settings, time);
    }

    AcquireResult acquire(AcquireRequest request) {
        return acquireBatches == null ? acquire.sendAlone(request) : acquireBatches.send(request);
    }

    ReleaseResult release(String lockId) {
        return releaseBatches == null ? release.sendAlone(lockId) : releaseBatches.send(lockId);
    }

    @Override
    public void close() {
        if (acquireBatches != null) {
            acquireBatches.close();
        }
        if (releaseBatches != null) {
            releaseBatches.close();
        }
    }

    private static <Q, A> @Nullable Batcher<Q, A> batcher(
            String name, BatchSender<Q, A> sender, int statements, PostgresSettings settings, Time time) {
        PostgresBatching batching = settings.batching();
        Batcher.Limits limits =
                new Batcher.Limits(statements, BATCH_SIZE, settings.timeout(), batching == PostgresBatching.ALWAYS);
        return batching == PostgresBatching.OFF ? null : new Batcher<>(name, sender, limits, time);
    }
}
