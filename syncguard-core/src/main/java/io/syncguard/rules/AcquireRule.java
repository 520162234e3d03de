package io.syncguard.rules;

import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import org.jspecify.annotations.Nullable;

/** The attempts to acquire a key. */
final class AcquireRule {

    private final KeyStep step;
    private final AcquireRequest request;
    private final LeaseKind kind;

    AcquireRule(KeyStep step, AcquireRequest request) {
        this.step = step;
        this.request = request;
        this.kind = LeaseKind.of(request);
    }

    AcquireResult acquire(@Nullable String channel) {
        StoredLease handedOver = request.queued() ? step.leases().find(request.lockId()) : null;
        if (handedOver != null && handedOver.isLive(step.now())) {
            return step.leases()
                    .replace(
                            handedOver,
                            handedOver.found(step.now(), request.options().ttl()))
                    .grant();
        }
        QueueEntry own = step.queue().find(request.lockId());
        Obstacles obstacles = step.obstacles(own, kind);
        if (obstacles.areNone()) {
            return grant(own);
        }
        if (request.waiterNumber() == null) {
            if (own != null) {
                step.leave(own);
            }
            return new AcquireResult.Refused(obstacles.untilLast(step.now()), obstacles.holder());
        }
        queue(own, request.waiterNumber(), channel);
        return new AcquireResult.Queued(obstacles.untilFirst(step.now()), obstacles.holder());
    }

    private AcquireResult.Granted grant(@Nullable QueueEntry own) {
        step.queue().remove(own);
        StoredLease lease = step.grant(
                request.lockId(),
                kind.mode(),
                request.options().owner(),
                request.options().ttl());
        if (own != null) {
            wakeBehind();
        }
        return lease.grant();
    }

    /** Wakes the waiters for whom there is room, now or soon: no lease ends, so nothing else would wake them. */
    private void wakeBehind() {
        boolean hasWokenReaders = !kind.blocksReaders();
        step.queue().entries().stream()
                .filter(step::isGrantableSoon)
                .filter(entry -> !hasWokenReaders || entry.kind().blocksReaders())
                .forEach(step::wake);
    }

    private void queue(@Nullable QueueEntry own, long waiterNumber, @Nullable String channel) {
        long arrivedAt = own == null ? step.now() : own.arrivedAt();
        QueueEntry entry = QueueEntry.of(request, waiterNumber, channel, arrivedAt, step.in(step.waiterTtl()));
        if (own == null) {
            step.queue().add(entry);
        } else {
            step.queue().replace(own, entry);
        }
    }
}
