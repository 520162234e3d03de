package io.syncguard.verification.bugs;

import io.syncguard.ForcedRelease;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.BlockingSession;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.PoolStatus;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpListener;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Does what another backend does. A bug overrides an operation. */
class ForwardingBackend implements LockBackend {

    private final LockBackend right;

    /** @param right the backend without the bug */
    ForwardingBackend(LockBackend right) {
        this.right = right;
    }

    @Override
    public String name() {
        return right.name();
    }

    @Override
    public String lockIdFor(String key, String random) {
        return right.lockIdFor(key, random);
    }

    @Override
    public AcquireResult acquire(AcquireRequest request) {
        return right.acquire(request);
    }

    @Override
    public ReleaseResult release(String lockId) {
        return right.release(lockId);
    }

    @Override
    public ReleaseResult releaseAfter(String lockId, Duration held) {
        return right.releaseAfter(lockId, held);
    }

    @Override
    public List<ReleaseResult> releaseAll(List<String> lockIds) {
        return right.releaseAll(lockIds);
    }

    @Override
    public List<Duration> renewWaiters(List<String> lockIds) {
        return right.renewWaiters(lockIds);
    }

    @Override
    public Duration waiterTtl() {
        return right.waiterTtl();
    }

    @Override
    public void connect(WakeUpListener listener) {
        right.connect(listener);
    }

    @Override
    public boolean isConnected() {
        return right.isConnected();
    }

    @Override
    public List<ExtendResult> extend(List<ExtendRequest> requests) {
        return right.extend(requests);
    }

    @Override
    public ExtendResult extend(ExtendRequest request) {
        return right.extend(request);
    }

    @Override
    public ExtendResult rotate(ExtendRequest request) {
        return right.rotate(request);
    }

    @Override
    public boolean isLocked(String key) {
        return right.isLocked(key);
    }

    @Override
    public List<RawLockInfo> lookup(String key) {
        return right.lookup(key);
    }

    @Override
    public Optional<RawLockInfo> lookupById(String lockId) {
        return right.lookupById(lockId);
    }

    @Override
    public LockPage list(LockQuery query) {
        return right.list(query);
    }

    @Override
    public Optional<LockStatus> status(String key) {
        return right.status(key);
    }

    @Override
    public List<BlockingSession> blockingSessions(String key) {
        return right.blockingSessions(key);
    }

    @Override
    public @Nullable PoolStatus pool() {
        return right.pool();
    }

    @Override
    public ForcedRelease forceRelease(String key) {
        return right.forceRelease(key);
    }

    @Override
    public Duration inDoubtPeriod() {
        return right.inDoubtPeriod();
    }

    @Override
    public void close() {
        right.close();
    }
}
