package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import io.syncguard.jdbc.ContendedKeys;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseRequest;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpSubscriber;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Chooses the statements for releases: by their kind, by their number, and by whether somebody probably waits. */
final class PostgresReleases {

    private final ReleaseStatement statement;
    private final PostgresConnections connections;
    private final PostgresConnections engineConnections;
    private final ContendedKeys contended;
    private final Supplier<@Nullable WakeUpSubscriber> wakeUps;

    /**
     * @param connections for releases of callers. They go on when their callers are interrupted
     * @param engineConnections for releases of the engine
     * @param contended the keys for which somebody probably waits
     * @param wakeUps gives the subscriber for wake-ups of this process; {@code null} while none can reach it
     */
    PostgresReleases(
            ReleaseStatement statement,
            PostgresConnections connections,
            PostgresConnections engineConnections,
            ContendedKeys contended,
            Supplier<@Nullable WakeUpSubscriber> wakeUps) {
        this.statement = statement;
        this.connections = connections.uninterruptible();
        this.engineConnections = engineConnections;
        this.contended = contended;
        this.wakeUps = wakeUps;
    }

    List<ReleaseResult> release(List<ReleaseRequest> requests) {
        ReleaseRequest first = requests.get(0);
        Duration held = first.heldFor();
        if (held != null) {
            return List.of(statement.after(connections, first.id().lockId(), held));
        }
        if (!first.handsOver()) {
            return statement.all(engineConnections, lockIds(requests));
        }
        return requests.size() == 1 && first.waits() ? List.of(alone(first)) : batch(requests);
    }

    private ReleaseResult alone(ReleaseRequest request) {
        KeyedLockId id = request.id();
        String key = id.key();
        if (!request.entering().isEmpty()) {
            contended.released(request.entering().get(0).key());
            return statement.runAndQueue(connections, id.lockId(), request.entering(), wakeUps.get());
        }
        if (key != null && !contended.isContended(key) && statement.unawaited(connections, id)) {
            return ReleaseResult.RELEASED;
        }
        return statement.run(connections, id, key != null && contended.released(key), wakeUps.get());
    }

    private List<ReleaseResult> batch(List<ReleaseRequest> requests) {
        try {
            return statement.batch(connections, lockIds(requests), wakeUps.get());
        } catch (LockBackendException ex) {
            if (PostgresErrors.isRolledBack(ex)) {
                return Collections.nCopies(requests.size(), ReleaseResult.UNDECIDED);
            }
            throw ex;
        }
    }

    /** The statements find a lease by its lock id, which has an index. */
    private static List<String> lockIds(List<ReleaseRequest> requests) {
        return requests.stream().map(request -> request.id().lockId()).toList();
    }
}
