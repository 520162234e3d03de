package io.syncguard.postgres;

import io.syncguard.LockMode;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.WakeUpSubscriber;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sends acquire requests. */
final class AcquireSender implements PostgresBatchSender<AcquireRequest, AcquireResult> {

    private final AcquireStatement statement;
    private final ReleaseStatement release;
    private final PostgresConnections connections;
    private final Supplier<@Nullable WakeUpSubscriber> wakeUps;

    /** @param wakeUps where this process is woken at this moment */
    AcquireSender(
            AcquireStatement statement,
            ReleaseStatement release,
            PostgresConnections connections,
            Supplier<@Nullable WakeUpSubscriber> wakeUps) {
        this.statement = statement;
        this.release = release;
        this.connections = connections;
        this.wakeUps = wakeUps;
    }

    @Override
    public Object keyOf(AcquireRequest request) {
        return request.key();
    }

    /** Readers enter together. */
    @Override
    public boolean sharesBatch(AcquireRequest request) {
        return request.mode() == LockMode.SHARED;
    }

    private record Group(LockMode mode, long silenceLimit) {}

    /** A batch is of readers or of writers, and has one limit on the silence of the server. */
    @Override
    public @Nullable Object groupOf(AcquireRequest request) {
        return AcquireStatement.fitsIntoBatch(request)
                ? new Group(request.mode(), connections.silenceLimit(request.ttl()))
                : null;
    }

    @Override
    public AcquireResult sendAlone(AcquireRequest request, long deadline) {
        return statement.run(connections.until(deadline), request, wakeUps.get());
    }

    @Override
    public List<@Nullable AcquireResult> sendTogether(List<AcquireRequest> requests) {
        return statement.batch(connections, requests, wakeUps.get());
    }

    @Override
    public void unclaimed(AcquireRequest request, AcquireResult answer) {
        if (answer instanceof AcquireResult.Granted) {
            release.run(connections.uninterruptible(), request.lockId());
        }
    }

    @Override
    public String doing(AcquireRequest request) {
        return "acquiring lock '" + request.key() + "'";
    }
}
