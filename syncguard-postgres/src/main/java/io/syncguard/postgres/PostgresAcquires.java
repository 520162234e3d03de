package io.syncguard.postgres;

import io.syncguard.LockBackendException;
import io.syncguard.LockMode;
import io.syncguard.jdbc.ContendedKeys;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.AcquireResult.Undecided;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.WakeUpSubscriber;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Chooses the statements for acquire requests: by how many there are, and by whether their keys are probably free. */
final class PostgresAcquires {

    private final AcquireStatement statement;
    private final PostgresConnections connections;
    private final ContendedKeys contended;
    private final Supplier<@Nullable WakeUpSubscriber> wakeUps;

    /**
     * @param contended the keys that probably have a holder
     * @param wakeUps gives the subscriber for wake-ups of this process; {@code null} while none can reach it
     */
    PostgresAcquires(
            AcquireStatement statement,
            PostgresConnections connections,
            ContendedKeys contended,
            Supplier<@Nullable WakeUpSubscriber> wakeUps) {
        this.statement = statement;
        this.connections = connections;
        this.contended = contended;
        this.wakeUps = wakeUps;
    }

    List<AcquireResult> acquire(List<AcquireRequest> requests, GrantExtent extent) {
        WakeUpSubscriber subscriber = wakeUps.get();
        List<AcquireResult> results = switch (extent) {
            case ONE -> List.of(alone(requests.get(0), subscriber));
            case EACH -> batch(requests, subscriber);
            case ALL, IN_FRONT, NOTHING -> statement.together(connections, requests, extent);
        };
        for (int i = 0; i < results.size(); i++) {
            remember(requests.get(i), results.get(i), subscriber != null);
        }
        return results;
    }

    private AcquireResult alone(AcquireRequest request, @Nullable WakeUpSubscriber subscriber) {
        return statement.run(connections, request, contended.isContended(request.key()), subscriber);
    }

    private List<AcquireResult> batch(List<AcquireRequest> requests, @Nullable WakeUpSubscriber subscriber) {
        try {
            return isProbablyFree(requests)
                    ? statement.freeBatch(connections, requests)
                    : statement.batch(connections, requests, subscriber);
        } catch (LockBackendException ex) {
            if (PostgresErrors.isRolledBack(ex)) {
                return Collections.nCopies(requests.size(), Undecided.UNDECIDED);
            }
            throw ex;
        }
    }

    private boolean isProbablyFree(List<AcquireRequest> requests) {
        Set<String> keys = new HashSet<>();
        return requests.stream()
                .allMatch(request -> request.options().mode() == LockMode.EXCLUSIVE
                        && !request.queued()
                        && keys.add(request.key())
                        && !contended.isContended(request.key()));
    }

    private void remember(AcquireRequest request, AcquireResult result, boolean isWoken) {
        if (result instanceof AcquireResult.Granted) {
            if (!request.queued()) {
                contended.free(request.key());
            }
        } else if (result instanceof AcquireResult.Queued
                && isWoken
                && request.options().handOver()
                && request.options().mode() == LockMode.EXCLUSIVE) {
            contended.queued(request.key());
        } else if (!(result instanceof AcquireResult.Undecided)) {
            contended.taken(request.key());
        }
    }
}
