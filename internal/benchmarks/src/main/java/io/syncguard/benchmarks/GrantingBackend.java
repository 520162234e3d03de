package io.syncguard.benchmarks;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.JointExtent;
import io.syncguard.spi.JointResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpListener;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** Grants every request and stores nothing, so that a benchmark measures only the library. */
final class GrantingBackend implements LockBackend {

    private static final AcquireResult.Granted GRANT =
            new AcquireResult.Granted(new Fence(1), Instant.EPOCH, Instant.EPOCH);

    @Override
    public String name() {
        return "granting";
    }

    @Override
    public AcquireResult acquire(AcquireRequest request) {
        return GRANT;
    }

    @Override
    public JointResult acquireTogether(List<AcquireRequest> requests, JointExtent extent) {
        return new JointResult(Collections.nCopies(requests.size(), GRANT), null);
    }

    @Override
    public ReleaseResult release(KeyedLockId id) {
        return ReleaseResult.RELEASED;
    }

    @Override
    public ReleaseResult releaseAfter(KeyedLockId id, Duration held) {
        return ReleaseResult.RELEASED;
    }

    @Override
    public List<Duration> renewWaiters(List<KeyedLockId> ids) {
        return ids.stream().map(each -> Duration.ZERO).toList();
    }

    @Override
    public Duration waiterTtl() {
        return Duration.ofSeconds(5);
    }

    @Override
    public void connect(WakeUpListener wakeUps) {}

    @Override
    public boolean isConnected() {
        return false;
    }

    @Override
    public List<ReleaseResult> releaseAll(List<KeyedLockId> ids) {
        return ids.stream().map(this::release).toList();
    }

    @Override
    public ExtendResult extend(ExtendRequest extension) {
        return extend(List.of(extension)).get(0);
    }

    @Override
    public List<ExtendResult> extend(List<ExtendRequest> extensions) {
        return extensions.stream()
                .<ExtendResult>map(each -> new ExtendResult.Extended(Instant.EPOCH))
                .toList();
    }

    @Override
    public ExtendResult rotate(ExtendRequest extension) {
        return new ExtendResult.Rotated(Instant.EPOCH, new Fence(1));
    }

    @Override
    public boolean isLocked(String key) {
        return false;
    }

    @Override
    public List<RawLockInfo> lookup(String key) {
        return List.of();
    }

    @Override
    public Optional<RawLockInfo> lookupById(KeyedLockId id) {
        return Optional.empty();
    }

    @Override
    public LockPage list(LockQuery query) {
        return new LockPage(List.of(), null);
    }

    @Override
    public Optional<LockStatus> status(String key) {
        return Optional.empty();
    }

    @Override
    public ForcedRelease forceRelease(String key) {
        return new ForcedRelease(key, 0, 0, null);
    }

    @Override
    public Duration inDoubtPeriod() {
        return Duration.ZERO;
    }

    @Override
    public void close() {}
}
