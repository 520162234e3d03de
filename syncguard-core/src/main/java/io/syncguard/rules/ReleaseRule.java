package io.syncguard.rules;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockInfo;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.Hashes;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.ReleaseResult.HandOver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The ends of leases and queue entries. */
final class ReleaseRule {

    private final KeyStep step;

    ReleaseRule(KeyStep step) {
        this.step = step;
    }

    ReleaseResult release(String lockId) {
        return end(lockId, lease -> {
            step.leases().remove(lease);
            step.wakeGrantable();
            return ReleaseResult.RELEASED;
        });
    }

    /** @param inAnswer the channel of the releasing process, if the answer may carry hand-overs to its waiters */
    ReleaseResult handOver(String lockId, @Nullable String inAnswer) {
        return end(lockId, lease -> {
            step.leases().remove(lease);
            List<HandOver> answered = handOver(inAnswer);
            step.wakeGrantable();
            return new ReleaseResult(ReleaseResult.Outcome.RELEASED, answered);
        });
    }

    ReleaseResult releaseAfter(String lockId, Duration held) {
        return endLease(lockId, lease -> {
            step.leases().replace(lease, lease.withoutHolder(held));
            step.wakeFront();
            return ReleaseResult.RELEASED;
        });
    }

    ForcedRelease forceRelease(Predicate<StoredLease> asked) {
        List<StoredLease> ending = step.leases().all().stream().filter(asked).toList();
        List<LockInfo> released = live(ending);
        List<LockInfo> remaining =
                live(step.leases().all().stream().filter(asked.negate()).toList());
        if (released.isEmpty()) {
            return new ForcedRelease(step.key(), released, remaining, null);
        }
        Fence fence = step.fences().hasNext() ? step.fences().next(step.now()) : null;
        ending.forEach(step.leases()::remove);
        step.wakeGrantable();
        return new ForcedRelease(step.key(), released, remaining, fence);
    }

    private List<LockInfo> live(List<StoredLease> leases) {
        return leases.stream()
                .filter(lease -> lease.isLive(step.now()))
                .sorted(Comparator.comparing(StoredLease::fence))
                .map(lease -> Hashes.abbreviated(lease.info(step.key())))
                .toList();
    }

    /** Deletes the queue entry with this lock id, or ends its lease in this way. */
    private ReleaseResult end(String lockId, Function<StoredLease, ReleaseResult> way) {
        QueueEntry entry = step.queue().find(lockId);
        if (entry != null) {
            step.leave(entry);
            return ReleaseResult.LEFT;
        }
        return endLease(lockId, way);
    }

    private ReleaseResult endLease(String lockId, Function<StoredLease, ReleaseResult> way) {
        StoredLease lease = step.leases().find(lockId);
        if (lease == null) {
            return ReleaseResult.NOT_FOUND;
        }
        return lease.isLive(step.now()) ? way.apply(lease) : ReleaseResult.EXPIRED;
    }

    /** Grants the key to the waiters in front that accept a hand-over, as far as there is room. */
    private List<HandOver> handOver(@Nullable String inAnswer) {
        step.leases().removeLapsed(step.now());
        List<HandOver> answered = new ArrayList<>();
        QueueEntry next = nextHolder();
        for (int i = 0; next != null && i < LockBackend.MAX_HAND_OVERS; i++) {
            step.queue().remove(next);
            AcquireResult.Granted grant = step.grant(next.lockId(), next.kind().mode(), next.owner(), step.waiterTtl())
                    .grant();
            if (next.channel() != null && next.channel().equals(inAnswer)) {
                answered.add(new HandOver(next.waiterNumber(), grant));
            } else {
                step.send(next, grant);
            }
            next = nextHolder();
        }
        return answered;
    }

    /** The first waiter, if it accepts a hand-over and can be granted the key. */
    private @Nullable QueueEntry nextHolder() {
        QueueEntry first = step.queue().first();
        boolean canBeGranted = first != null
                && first.acceptsHandOver()
                && step.isGrantable(first)
                && step.fences().hasNext();
        return canBeGranted ? first : null;
    }
}
