package io.syncguard.postgres;

import io.syncguard.postgres.batching.Batcher;
import io.syncguard.postgres.batching.TakenRequests;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpSubscriber;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sends releases. A release that is sent alone takes waiting acquire requests for its key along. */
final class ReleaseSender implements PostgresBatchSender<KeyedLockId, ReleaseResult> {

    private static final String ANY_GROUP = "";

    private final ReleaseStatement statement;
    private final PostgresConnections connections;
    private final @Nullable Batcher<AcquireRequest, AcquireResult> acquires;
    private final ContendedKeys contended;
    private final Supplier<@Nullable WakeUpSubscriber> wakeUps;

    /**
     * @param acquires the batcher where acquire requests wait; {@code null} if releases take none along
     * @param contended the keys for which somebody probably waits
     * @param wakeUps gives the current subscriber for wake-ups of this process; {@code null} while there is none
     */
    ReleaseSender(
            ReleaseStatement statement,
            PostgresConnections connections,
            @Nullable Batcher<AcquireRequest, AcquireResult> acquires,
            ContendedKeys contended,
            Supplier<@Nullable WakeUpSubscriber> wakeUps) {
        this.statement = statement;
        this.connections = connections;
        this.acquires = acquires;
        this.contended = contended;
        this.wakeUps = wakeUps;
    }

    @Override
    public Object keyOf(KeyedLockId id) {
        return PostgresLockIds.keyHash(id.lockId());
    }

    @Override
    public Object groupOf(KeyedLockId id) {
        return ANY_GROUP;
    }

    @Override
    public ReleaseResult sendAlone(KeyedLockId id, long deadline) {
        PostgresConnections limited = connections.until(deadline);
        String key = id.key();
        if (acquires != null && key != null && !isOnVirtualThread()) {
            TakenRequests<AcquireRequest, AcquireResult> queueing = acquires.takeAlong(
                    request -> isQueueing(request) && request.key().equals(key));
            if (!queueing.isEmpty()) {
                contended.released(key);
                return queueing.send(
                                requests -> statement.runAndQueue(limited, id.lockId(), requests, wakeUps.get()),
                                ReleaseStatement.Released::queued)
                        .result();
            }
        }
        if (key != null && !contended.isContended(key) && statement.unawaited(limited, id)) {
            return ReleaseResult.RELEASED;
        }
        return statement.run(limited, id, key != null && contended.released(key), wakeUps.get());
    }

    /**
     * On a virtual thread, an interrupt of the caller closes the connection. Requests of others on it would fail, too.
     */
    private static boolean isOnVirtualThread() {
        return "VirtualThreads".equals(Thread.currentThread().getThreadGroup().getName());
    }

    /** Whether the request gets a queue entry unless it is granted. */
    private static boolean isQueueing(AcquireRequest request) {
        return request.waiterNumber() != null && !request.queued();
    }

    @Override
    public List<@Nullable ReleaseResult> sendTogether(List<KeyedLockId> ids) {
        return statement.batch(
                connections, ids.stream().map(KeyedLockId::lockId).toList(), wakeUps.get());
    }

    @Override
    public String doing(KeyedLockId id) {
        return "releasing a lock";
    }
}
