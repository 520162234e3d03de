package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.LockMode;
import io.syncguard.RawLockInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The contract in its plainest form, for tests of everything above a backend. Several may share one {@link Store}, as
 * processes share a database.
 */
public final class InMemoryLockBackend implements LockBackend {

    private final Store store;

    public InMemoryLockBackend() {
        this(new Store(() -> Time.SYSTEM.nanoTime() / 1_000_000));
    }

    public InMemoryLockBackend(Store store) {
        this.store = store;
    }

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public Attempt acquire(Claim claim) {
        synchronized (store) {
            long now = store.millis.getAsLong();
            Row row = store.rows.get(claim.key());
            if (row != null && row.isLive(now)) {
                return new Attempt.Refusal(Duration.ofMillis(row.expiresAt + TOLERANCE_MILLIS - now));
            }
            long fence = store.fences.merge(claim.key(), 1L, Long::sum);
            store.rows.put(
                    claim.key(), new Row(claim, fence, now, now + claim.ttl().toMillis()));
            return new Attempt.Grant(
                    new Fence(fence),
                    Instant.ofEpochMilli(now),
                    Instant.ofEpochMilli(now + claim.ttl().toMillis()));
        }
    }

    @Override
    public ReleaseOutcome release(String lockId) {
        synchronized (store) {
            Row row = row(lockId);
            if (row == null) {
                return ReleaseOutcome.NOT_FOUND;
            }
            if (!row.isLive(store.millis.getAsLong())) {
                return ReleaseOutcome.EXPIRED;
            }
            store.rows.remove(row.claim.key());
            return ReleaseOutcome.RELEASED;
        }
    }

    @Override
    public List<ExtendOutcome> extend(List<Extension> extensions) {
        synchronized (store) {
            return extensions.stream().map(this::extend).toList();
        }
    }

    @Override
    public boolean isLocked(String key) {
        return lookup(key).isPresent();
    }

    @Override
    public Optional<RawLockInfo> lookup(String key) {
        synchronized (store) {
            return Optional.ofNullable(store.rows.get(key))
                    .filter(row -> row.isLive(store.millis.getAsLong()))
                    .map(Row::info);
        }
    }

    @Override
    public Optional<RawLockInfo> lookupById(String lockId) {
        synchronized (store) {
            return Optional.ofNullable(row(lockId))
                    .filter(row -> row.isLive(store.millis.getAsLong()))
                    .map(Row::info);
        }
    }

    @Override
    public Duration settlingTime() {
        return Duration.ofSeconds(5);
    }

    @Override
    public void close() {}

    private ExtendOutcome extend(Extension extension) {
        Row row = row(extension.lockId());
        if (row == null) {
            return new ExtendOutcome.NotFound();
        }
        if (!row.isLive(store.millis.getAsLong())) {
            return new ExtendOutcome.Expired();
        }
        row.expiresAt = store.millis.getAsLong() + extension.ttl().toMillis();
        return new ExtendOutcome.Extended(Instant.ofEpochMilli(row.expiresAt));
    }

    private @Nullable Row row(String lockId) {
        return store.rows.values().stream()
                .filter(row -> row.claim.lockId().equals(lockId))
                .findFirst()
                .orElse(null);
    }

    /** What several backends share. Guarded by itself. */
    public static final class Store {

        private final LongSupplier millis;
        private final Map<String, Row> rows = new HashMap<>();
        private final Map<String, Long> fences = new HashMap<>();

        /** @param millis the clock of the server */
        public Store(LongSupplier millis) {
            this.millis = millis;
        }

        /** Ends the lease of the key and its tolerance now. */
        public synchronized void expire(String key) {
            Row row = rows.get(key);
            if (row != null) {
                row.expiresAt = millis.getAsLong() - TOLERANCE_MILLIS;
            }
        }

        /** As if so many fences had been drawn for the key. */
        public synchronized void drawnUpTo(String key, long fence) {
            fences.put(key, fence);
        }

        /** The last fence that was drawn for the key, zero if none was. */
        public synchronized long fence(String key) {
            return fences.getOrDefault(key, 0L);
        }
    }

    private static final class Row {

        private final Claim claim;
        private final long fence;
        private final long acquiredAt;
        private long expiresAt;

        Row(Claim claim, long fence, long acquiredAt, long expiresAt) {
            this.claim = claim;
            this.fence = fence;
            this.acquiredAt = acquiredAt;
            this.expiresAt = expiresAt;
        }

        boolean isLive(long now) {
            return expiresAt > now - TOLERANCE_MILLIS;
        }

        RawLockInfo info() {
            return new RawLockInfo(
                    claim.key(),
                    claim.lockId(),
                    LockMode.EXCLUSIVE,
                    Instant.ofEpochMilli(acquiredAt),
                    Instant.ofEpochMilli(expiresAt),
                    new Fence(fence),
                    claim.owner());
        }
    }
}
