package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import io.syncguard.postgres.batching.BatchSender;
import io.syncguard.postgres.batching.Batcher;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpSubscriber;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sends the acquire requests and releases of callers, under load in batches. */
final class CallerRequests implements AutoCloseable {

    /** How many acquire requests one statement has at most, and how many releases. */
    private static final int BATCH_SIZE = 64;

    /** Two threads never wait for each other. With three and more, a shared statement costs less than a third one. */
    private static final int STATEMENTS = 2;

    private final AcquireSender acquire;
    private final ReleaseSender release;

    /** For a caller that waits for several answers: in one of them, a hand-over would wait for the others. */
    private final ReleaseSender releaseWithMessages;

    private final @Nullable Batcher<AcquireRequest, AcquireResult> acquireBatches;
    private final @Nullable Batcher<String, ReleaseResult> releaseBatches;

    /** @param wakeUps where this process is woken at this moment */
    CallerRequests(
            PostgresSettings settings,
            PostgresConnections connections,
            ReleaseStatement release,
            Supplier<@Nullable WakeUpSubscriber> wakeUps,
            Time time) {
        this.acquire = new AcquireSender(new AcquireStatement(settings), release, connections, wakeUps);
        this.acquireBatches = batcher("syncguard-acquire-batch", this.acquire, settings, time);
        this.release = new ReleaseSender(release, connections.uninterruptible(), acquireBatches, wakeUps);
        this.releaseWithMessages = new ReleaseSender(release, connections.uninterruptible(), null, () -> null);
        this.releaseBatches = batcher("syncguard-release-batch", this.release, settings, time);
    }

    AcquireResult acquire(AcquireRequest request) {
        return acquireBatches == null ? acquire.sendAlone(request, Time.NEVER) : acquireBatches.send(request);
    }

    /** One statement, also where callers share none: it waits for no locked row. */
    List<@Nullable AcquireResult> acquireTogether(List<AcquireRequest> requests) {
        // All of one caller are of the same group, unless their ttls are short and differ.
        Object group = acquire.groupOf(requests.get(0));
        List<AcquireRequest> sent = requests.stream()
                .takeWhile(request -> Objects.equals(acquire.groupOf(request), group))
                .toList();
        List<@Nullable AcquireResult> results = new ArrayList<>(sendTogether(acquire, sent));
        results.addAll(Collections.nCopies(requests.size() - sent.size(), null));
        return results;
    }

    /** One statement, and one for each lease that this one skips. */
    List<ReleaseResult> releaseTogether(List<String> lockIds) {
        List<@Nullable ReleaseResult> together = sendTogether(releaseWithMessages, lockIds);
        List<ReleaseResult> results = new ArrayList<>();
        for (int i = 0; i < lockIds.size(); i++) {
            ReleaseResult result = together.get(i);
            results.add(result == null ? releaseSkipped(lockIds.get(i)) : result);
        }
        return results;
    }

    /** Its failure is in doubt for the whole call, of which other leases may have been released before. */
    private ReleaseResult releaseSkipped(String lockId) {
        try {
            return releaseWithMessages.sendAlone(lockId, Time.NEVER);
        } catch (LockBackendException ex) {
            throw new LockBackendException(LockErrorCode.SERVICE_UNAVAILABLE, String.valueOf(ex.getMessage()), ex);
        }
    }

    /** Without an effect that the server has reported as undone. */
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

    ReleaseResult release(String lockId) {
        return releaseBatches == null ? release.sendAlone(lockId, Time.NEVER) : releaseBatches.send(lockId);
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

    private static <Q, A> @Nullable Batcher<Q, A> batcher(
            String name, BatchSender<Q, A> sender, PostgresSettings settings, Time time) {
        PostgresBatching batching = settings.batching();
        Batcher.Limits limits =
                new Batcher.Limits(STATEMENTS, BATCH_SIZE, settings.timeout(), batching == PostgresBatching.ALWAYS);
        return batching == PostgresBatching.OFF ? null : new Batcher<>(name, sender, limits, time);
    }
}
