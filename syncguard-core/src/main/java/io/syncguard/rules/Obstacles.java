package io.syncguard.rules;

import io.syncguard.spi.AcquireResult;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * What is in the way of a request.
 *
 * @param held the conflicting leases, in the order of their ends
 * @param awaited the same, if those in front who can be granted the key now have it already
 * @param inFront the conflicting waiters who came before
 * @param kind of the request
 */
record Obstacles(List<StoredLease> held, List<StoredLease> awaited, List<QueueEntry> inFront, LeaseKind kind) {

    boolean areNone() {
        return held.isEmpty() && inFront.isEmpty();
    }

    /**
     * How long until the first of them ends, as the others may be released before without a wake-up; zero if there is
     * none.
     */
    Duration untilFirst(long now) {
        return Duration.ofMillis(ends(awaited).min().orElse(now) - now);
    }

    /** How long until there is room and nobody in front if nobody releases or extends; zero if there is none. */
    Duration untilLast(long now) {
        return Duration.ofMillis(ends(kind.deciding(held)).max().orElse(now) - now);
    }

    /** The holder, or the one of several whose lease ends last. */
    AcquireResult.@Nullable Holder holder() {
        return held.isEmpty() ? null : held.get(held.size() - 1).holder(held.size() == 1);
    }

    private LongStream ends(List<StoredLease> leases) {
        return LongStream.concat(
                leases.stream().mapToLong(StoredLease::freeAt), inFront.stream().mapToLong(QueueEntry::expiresAt));
    }
}
