package io.syncguard.memory;

import io.syncguard.spi.AcquireResult;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * What is in the way of a request.
 *
 * @param held the conflicting leases
 * @param inFront the conflicting waiters who came before
 */
record Obstacles(List<StoredLease> held, List<QueueEntry> inFront) {

    boolean areNone() {
        return held.isEmpty() && inFront.isEmpty();
    }

    /** How long until the first of them ends if nobody releases or extends it; zero if there is none. */
    Duration untilFirst(long now) {
        return Duration.ofMillis(ends().min().orElse(now) - now);
    }

    /** How long until the last of them ends; zero if there is none. */
    Duration untilLast(long now) {
        return Duration.ofMillis(ends().max().orElse(now) - now);
    }

    /** Of several holders, the one whose lease ends last. */
    AcquireResult.@Nullable Holder holder() {
        return held.stream()
                .max(Comparator.comparing(StoredLease::expiresAt))
                .map(last -> last.holder(held.size() == 1))
                .orElse(null);
    }

    private LongStream ends() {
        return LongStream.concat(
                held.stream().mapToLong(StoredLease::freeAt), inFront.stream().mapToLong(QueueEntry::expiresAt));
    }
}
