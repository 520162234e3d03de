package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.spi.AcquireResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * The answers that many clients received, and a check that one server that keeps the contract could have given them.
 * Times are those of the server's clock, which has to grow with each reading.
 */
final class RaceHistory {

    private static final long TOLERANCE = 1000;

    /** In the order in which the answers arrived. Guarded by itself. */
    private final List<Lease> inOrder = new ArrayList<>();

    /** One grant and its later extensions and releases. Guarded by itself. */
    static final class Lease {

        final String key;
        final String lockId;
        private final long fence;
        private final long acquiredAt;
        private final long ttl;
        private long end;
        private long lastExtended;
        private int releases;
        private long releasedAtNanos = Long.MAX_VALUE;
        private boolean extendedAfterItsRelease;

        private Lease(String key, String lockId, AcquireResult.Granted grant) {
            this.key = key;
            this.lockId = lockId;
            this.fence = grant.fence().value();
            this.acquiredAt = grant.acquiredAt().toEpochMilli();
            this.end = grant.expiresAt().toEpochMilli();
            this.ttl = end - acquiredAt;
            this.lastExtended = acquiredAt;
        }

        /** @param sentAtNanos when the extension began, by this machine's clock */
        synchronized void extended(long until, long sentAtNanos) {
            end = Math.max(end, until);
            lastExtended = Math.max(lastExtended, until - ttl);
            extendedAfterItsRelease |= sentAtNanos > releasedAtNanos;
        }

        synchronized void released() {
            releases++;
            releasedAtNanos = Math.min(releasedAtNanos, System.nanoTime());
        }

        synchronized boolean isReleased() {
            return releases > 0;
        }
    }

    void granted(String key, String lockId, AcquireResult.Granted grant) {
        synchronized (inOrder) {
            inOrder.add(new Lease(key, lockId, grant));
        }
    }

    /** The leases of the latest answers, in no order. */
    List<Lease> last(int number) {
        synchronized (inOrder) {
            return new ArrayList<>(inOrder.subList(Math.max(0, inOrder.size() - number), inOrder.size()));
        }
    }

    boolean isReleased(String lockId) {
        synchronized (inOrder) {
            return inOrder.stream().anyMatch(lease -> lease.lockId.equals(lockId) && lease.isReleased());
        }
    }

    /** @param counters the final fence counters by key */
    void check(Map<String, Long> counters) {
        counters.forEach((key, counter) -> {
            List<Lease> byFence = last(Integer.MAX_VALUE);
            byFence.removeIf(lease -> !lease.key.equals(key));
            byFence.sort(Comparator.comparingLong(lease -> lease.fence));
            assertThat(byFence).as("a fence for each grant of " + key).hasSize(counter.intValue());
            for (int i = 0; i < byFence.size(); i++) {
                assertThat(byFence.get(i).fence).as("fences of " + key).isEqualTo(i + 1);
                checkAlone(byFence.get(i));
                if (i > 0) {
                    checkOrder(byFence.get(i - 1), byFence.get(i));
                }
            }
        });
    }

    private static void checkAlone(Lease lease) {
        assertThat(lease.releases).as("releases of one grant").isLessThanOrEqualTo(1);
        assertThat(lease.extendedAfterItsRelease)
                .as("extended after its release")
                .isFalse();
    }

    private static void checkOrder(Lease before, Lease after) {
        assertThat(after.acquiredAt)
                .as("fence " + after.fence + " of " + after.key + " against the last extension of the one before")
                .isGreaterThan(before.lastExtended);
        if (!before.isReleased()) {
            assertThat(after.acquiredAt)
                    .as("fence " + after.fence + " of " + after.key + " against the end of the one before")
                    .isGreaterThanOrEqualTo(before.end + TOLERANCE);
        }
    }
}
