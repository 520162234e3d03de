package io.syncguard.postgres;

import io.syncguard.LockMode;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.RequestNotSentException;
import io.syncguard.spi.WakeUpSubscriber;
import java.util.List;
import java.util.Map;
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

    private record Group(LockMode mode, long silenceLimit) {}

    /** A batch is of readers or of writers, and has one limit on the silence of the server. */
    @Override
    public Object groupOf(AcquireRequest request) {
        return new Group(request.mode(), connections.silenceLimit(request.ttl()));
    }

    @Override
    public AcquireResult sendAlone(AcquireRequest request, long deadline) {
        return statement.run(connections.until(deadline), request, wakeUps.get());
    }

    @Override
    public List<@Nullable AcquireResult> sendTogether(List<AcquireRequest> requests) {
        return statement.batch(connections, requests, wakeUps.get());
    }

    /** Where a release was not sent, its acquire requests wait for another statement. */
    @Override
    public @Nullable RuntimeException failureAlong(AcquireRequest request, RuntimeException statement) {
        return statement instanceof RequestNotSentException ? null : failureOf(request, statement);
    }

    /**
     * Also queue entries: each would be in front of others until it lapses. But a caller that had an entry before goes on
     * after an error, and may hold what its lock id is granted: the engine gives that back.
     */
    @Override
    public void unclaimed(Map<AcquireRequest, AcquireResult> answers) {
        List<String> lockIds = answers.entrySet().stream()
                .filter(answer -> !answer.getKey().queued() && !(answer.getValue() instanceof AcquireResult.Refused))
                .map(answer -> answer.getKey().lockId())
                .toList();
        if (!lockIds.isEmpty()) {
            release.all(connections.uninterruptible(), lockIds);
        }
    }

    @Override
    public String doing(AcquireRequest request) {
        return "acquiring lock '" + request.key() + "'";
    }
}
