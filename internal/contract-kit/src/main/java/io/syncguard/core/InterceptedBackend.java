package io.syncguard.core;

import io.syncguard.BackendInfo;
import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.BlockingSession;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.PoolStatus;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A backend behind a network that a test controls: the actions of the test run before or after the store executes a
 * request.
 */
public final class InterceptedBackend implements LockBackend {

    private static final Runnable NOTHING = () -> {};

    public final AtomicInteger acquires = new AtomicInteger();
    public final AtomicInteger extendStatements = new AtomicInteger();
    public final AtomicInteger rotations = new AtomicInteger();
    public final AtomicInteger renewalStatements = new AtomicInteger();
    public final AtomicInteger releases = new AtomicInteger();
    public final AtomicInteger releaseAllStatements = new AtomicInteger();
    public final AtomicInteger acquiresTogether = new AtomicInteger();
    public final AtomicInteger releasesTogether = new AtomicInteger();

    public volatile Consumer<AcquireRequest> onAcquire = request -> {};
    public volatile Runnable beforeAcquire = NOTHING;
    public volatile Runnable afterAcquire = NOTHING;
    public volatile Consumer<List<ExtendRequest>> onExtensions = extensions -> {};
    public volatile Runnable beforeExtend = NOTHING;
    public volatile Runnable afterExtend = NOTHING;
    public volatile Consumer<List<KeyedLockId>> onReleases = ids -> {};
    public volatile Runnable beforeRelease = NOTHING;
    public volatile Runnable afterRelease = NOTHING;
    public volatile Consumer<List<KeyedLockId>> onRenewal = ids -> {};
    public volatile Runnable beforeRenewal = NOTHING;
    public volatile Runnable afterRenewal = NOTHING;
    public volatile Runnable afterForcedRelease = NOTHING;
    public volatile Runnable beforeLookup = NOTHING;
    public volatile boolean rowsArePinned;

    /** How many keys travel together, in place of what the store takes. */
    public volatile int keysTogether = 1;

    public volatile List<BlockingSession> blockingSessions = List.of();
    public volatile @Nullable PoolStatus pool;

    /** Another one than that of the store. */
    public volatile @Nullable Duration inDoubtPeriod;

    /** Another answer than that of the store. */
    private volatile @Nullable ForcedRelease forcedRelease;

    /** The lock ids whose server fails, while the servers of others answer. */
    public volatile Set<String> unreachable = Set.of();

    /** The engine that receives the wake-ups of the store. */
    @SuppressWarnings("NullAway.Init")
    volatile WakeUpListener engine;

    public volatile boolean closed;

    private final LockBackend store;

    public InterceptedBackend(LockBackend store) {
        this.store = store;
    }

    public static LockBackendException failure(LockErrorCode code) {
        return new LockBackendException(code, "as the test wants it", null);
    }

    public static Runnable failing(LockErrorCode code) {
        return () -> {
            throw failure(code);
        };
    }

    @Override
    public String name() {
        return store.name();
    }

    @Override
    public BackendInfo info() {
        return store.info();
    }

    @Override
    public String lockIdFor(String key, String random) {
        return store.lockIdFor(key, random);
    }

    @Override
    public AcquireResult acquire(AcquireRequest request) {
        acquires.incrementAndGet();
        onAcquire.accept(request);
        beforeAcquire.run();
        AcquireResult attempt = store.acquire(request);
        afterAcquire.run();
        return attempt;
    }

    @Override
    public int keysTogether() {
        return Math.max(keysTogether, store.keysTogether());
    }

    @Override
    public List<@Nullable AcquireResult> acquireTogether(List<AcquireRequest> requests) {
        acquiresTogether.incrementAndGet();
        requests.forEach(onAcquire);
        beforeAcquire.run();
        List<@Nullable AcquireResult> results =
                store.keysTogether() > 1 ? store.acquireTogether(requests) : oneByOne(requests);
        afterAcquire.run();
        return results;
    }

    private List<@Nullable AcquireResult> oneByOne(List<AcquireRequest> requests) {
        List<@Nullable AcquireResult> results = new ArrayList<>();
        requests.forEach(request -> results.add(store.acquire(request)));
        return results;
    }

    @Override
    public List<ReleaseResult> releaseTogether(List<KeyedLockId> ids) {
        releasesTogether.incrementAndGet();
        beforeRelease.run();
        List<ReleaseResult> results = ids.stream()
                .map(id -> rowsArePinned ? ReleaseResult.BUSY : store.release(id))
                .toList();
        afterRelease.run();
        return results;
    }

    @Override
    public ReleaseResult release(KeyedLockId id) {
        releases.incrementAndGet();
        return release(id, () -> store.release(id));
    }

    @Override
    public ReleaseResult releaseAfter(KeyedLockId id, Duration held) {
        return release(id, () -> store.releaseAfter(id, held));
    }

    private ReleaseResult release(KeyedLockId id, Supplier<ReleaseResult> release) {
        beforeRelease.run();
        ReleaseResult outcome = rowsArePinned && store.lookupById(id).isPresent() ? ReleaseResult.BUSY : release.get();
        afterRelease.run();
        return outcome;
    }

    @Override
    public List<ReleaseResult> releaseAll(List<KeyedLockId> ids) {
        releases.addAndGet(ids.size());
        releaseAllStatements.incrementAndGet();
        onReleases.accept(ids);
        beforeRelease.run();
        List<ReleaseResult> outcomes = ids.stream()
                .map(id -> rowsArePinned && store.lookupById(id).isPresent()
                        ? ReleaseResult.BUSY
                        : store.releaseAll(List.of(id)).get(0))
                .toList();
        afterRelease.run();
        return outcomes;
    }

    @Override
    public List<ExtendResult> extend(List<ExtendRequest> extensions) {
        extendStatements.incrementAndGet();
        onExtensions.accept(extensions);
        beforeExtend.run();
        List<ExtendResult> outcomes = rowsArePinned
                ? extensions.stream()
                        .<ExtendResult>map(each -> new ExtendResult.Busy())
                        .toList()
                : merged(
                        extensions,
                        store.extend(extensions.stream()
                                .filter(each -> !unreachable.contains(each.lockId()))
                                .toList()));
        afterExtend.run();
        return outcomes;
    }

    private List<ExtendResult> merged(List<ExtendRequest> extensions, List<ExtendResult> answers) {
        Iterator<ExtendResult> next = answers.iterator();
        return extensions.stream()
                .map(each -> unreachable.contains(each.lockId())
                        ? new ExtendResult.Failed(failure(LockErrorCode.SERVICE_UNAVAILABLE))
                        : next.next())
                .toList();
    }

    @Override
    public ExtendResult extend(ExtendRequest extension) {
        return extend(List.of(extension)).get(0);
    }

    /** A rotation is an extension, too. */
    @Override
    public ExtendResult rotate(ExtendRequest extension) {
        rotations.incrementAndGet();
        onExtensions.accept(List.of(extension));
        beforeExtend.run();
        ExtendResult outcome = rowsArePinned ? new ExtendResult.Busy() : store.rotate(extension);
        afterExtend.run();
        return outcome;
    }

    @Override
    public List<Duration> renewWaiters(List<KeyedLockId> ids) {
        renewalStatements.incrementAndGet();
        onRenewal.accept(ids);
        beforeRenewal.run();
        List<Duration> nextLooks = store.renewWaiters(ids);
        afterRenewal.run();
        return nextLooks;
    }

    @Override
    public Duration waiterTtl() {
        return store.waiterTtl();
    }

    @Override
    public void connect(WakeUpListener wakeUps) {
        engine = wakeUps;
        store.connect(wakeUps);
    }

    @Override
    public boolean isConnected() {
        return store.isConnected();
    }

    /** Lets a forced release have another answer than that of the store. */
    public void answerForcedRelease(String key, int released, int remaining) {
        forcedRelease = new ForcedRelease(key, released, remaining, released == 0 ? null : new Fence(1000));
    }

    @Override
    public boolean isLocked(String key) {
        beforeLookup.run();
        return store.isLocked(key);
    }

    @Override
    public List<RawLockInfo> lookup(String key) {
        return store.lookup(key);
    }

    @Override
    public Optional<RawLockInfo> lookupById(KeyedLockId id) {
        return store.lookupById(id);
    }

    @Override
    public LockPage list(LockQuery query) {
        return store.list(query);
    }

    @Override
    public Optional<LockStatus> status(String key) {
        return store.status(key);
    }

    @Override
    public List<BlockingSession> blockingSessions(String key) {
        return blockingSessions;
    }

    @Override
    public @Nullable PoolStatus pool() {
        return pool;
    }

    @Override
    public ForcedRelease forceRelease(String key) {
        ForcedRelease done = store.forceRelease(key);
        afterForcedRelease.run();
        return Objects.requireNonNullElse(forcedRelease, done);
    }

    @Override
    public Duration inDoubtPeriod() {
        return inDoubtPeriod == null ? store.inDoubtPeriod() : inDoubtPeriod;
    }

    @Override
    public void close() {
        closed = true;
        store.close();
    }
}
