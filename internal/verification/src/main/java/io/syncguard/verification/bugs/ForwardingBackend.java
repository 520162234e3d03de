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
import io.syncguard.spi.JointExtent;
import io.syncguard.spi.JointResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.PoolStatus;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpListener;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Forwards every operation to another backend. A bug overrides one of them. */
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
    public JointResult acquireTogether(List<AcquireRequest> requests, JointExtent extent) {
        return right.acquireTogether(requests, extent);
    }

    @Override
    public ReleaseResult release(KeyedLockId id) {
        return right.release(id);
    }

    @Override
    public ReleaseResult releaseAfter(KeyedLockId id, Duration held) {
        return right.releaseAfter(id, held);
    }

    @Override
    public List<ReleaseResult> releaseAll(List<KeyedLockId> ids) {
        return right.releaseAll(ids);
    }

    @Override
    public List<Duration> renewWaiters(List<KeyedLockId> ids) {
        return right.renewWaiters(ids);
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
    public Optional<RawLockInfo> lookupById(KeyedLockId id) {
        return right.lookupById(id);
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
    public void disconnect() {
        right.disconnect();
    }

    @Override
    public void reconnect() {
        right.reconnect();
    }

    @Override
    public void close() {
        right.close();
    }
}
