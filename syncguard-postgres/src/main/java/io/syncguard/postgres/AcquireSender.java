package io.syncguard.postgres;

import io.syncguard.LockMode;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.JointExtent;
import io.syncguard.spi.JointResult;
import io.syncguard.spi.RequestNotSentException;
import io.syncguard.spi.WakeUpSubscriber;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sends acquire requests. */
final class AcquireSender implements PostgresBatchSender<AcquireRequest, AcquireResult> {

    private final AcquireStatement statement;
    private final ReleaseStatement release;
    private final PostgresConnections connections;
    private final ContendedKeys contended;
    private final Supplier<@Nullable WakeUpSubscriber> wakeUps;

    /**
     * @param contended the keys that probably have a holder
     * @param wakeUps gives the current subscriber for wake-ups of this process; {@code null} while there is none
     */
    AcquireSender(
            AcquireStatement statement,
            ReleaseStatement release,
            PostgresConnections connections,
            ContendedKeys contended,
            Supplier<@Nullable WakeUpSubscriber> wakeUps) {
        this.statement = statement;
        this.release = release;
        this.connections = connections;
        this.contended = contended;
        this.wakeUps = wakeUps;
    }

    @Override
    public Object keyOf(AcquireRequest request) {
        return request.key();
    }

    private record Group(LockMode mode, long networkTimeout) {}

    /** The requests of a batch have the same mode and the same network timeout. */
    @Override
    public Object groupOf(AcquireRequest request) {
        return new Group(request.mode(), connections.networkTimeout(request.ttl()));
    }

    @Override
    public AcquireResult sendAlone(AcquireRequest request, long deadline) {
        return statement.run(connections.until(deadline), request, contended.isContended(request.key()), wakeUps.get());
    }

    @Override
    public List<@Nullable AcquireResult> sendTogether(List<AcquireRequest> requests) {
        return isProbablyFree(requests)
                ? statement.freeBatch(connections, requests)
                : statement.batch(connections, requests, wakeUps.get());
    }

    /** Sends the attempts of one caller for several keys in one statement, even if batching is off. */
    JointResult sendJoint(List<AcquireRequest> requests, JointExtent extent) {
        JointResult result = statement.together(connections, requests, extent);
        for (int i = 0; i < result.grants().size(); i++) {
            contended.free(requests.get(i).key());
        }
        JointResult.Refusal refusal = result.refusal();
        if (refusal != null) {
            contended.taken(requests.get(refusal.position()).key());
        }
        return result;
    }

    private boolean isProbablyFree(List<AcquireRequest> requests) {
        Set<String> keys = new HashSet<>();
        return requests.stream()
                .allMatch(request -> request.mode() == LockMode.EXCLUSIVE
                        && !request.queued()
                        && keys.add(request.key())
                        && !contended.isContended(request.key()));
    }

    /** If the release was not sent, the acquire requests that it took along wait for another statement. */
    @Override
    public @Nullable RuntimeException failureAlong(AcquireRequest request, RuntimeException statement) {
        return statement instanceof RequestNotSentException ? null : failureOf(request, statement);
    }

    /**
     * Also removes queue entries, because each would block those behind it until it lapses. Leaves out requests that
     * were queued before: their callers go on after an error, and may hold a lease with that lock id. The engine gives
     * it back.
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
