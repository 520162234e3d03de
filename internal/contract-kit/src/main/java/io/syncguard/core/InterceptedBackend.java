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
import io.syncguard.spi.JointExtent;
import io.syncguard.spi.JointResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.PoolStatus;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpListener;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.function.UnaryOperator;
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

    /** Changes the answers to calls for several keys. */
    public volatile UnaryOperator<JointResult> jointAnswers = result -> result;

    /** The number of the server of a key. */
    public volatile ToIntFunction<String> servers = key -> 0;

    public volatile List<BlockingSession> blockingSessions = List.of();
    public volatile @Nullable PoolStatus pool;

    /** Replaces the value of the store. */
    public volatile @Nullable Duration inDoubtPeriod;

    /** Replaces the answer of the store. */
    private volatile @Nullable ForcedRelease forcedRelease;

    /** The lock ids whose server fails. The servers of other lock ids answer. */
    public volatile Set<String> unreachable = Set.of();

    /** The engine that receives the wake-ups of the store. */
    @SuppressWarnings("NullAway.Init")
    volatile WakeUpListener engine;

    public volatile boolean closed;

    private final LockBackend store;

    /** The keys that the engine has requested, by lock id. */
    private final Map<String, String> keys = new ConcurrentHashMap<>();

    private final Queue<String> requestsWithoutKey = new ConcurrentLinkedQueue<>();

    public InterceptedBackend(LockBackend store) {
        this.store = store;
    }

    public static LockBackendException failure(LockErrorCode code) {
        return new LockBackendException(code, "The test fails this request", null);
    }

    public static Runnable failing(LockErrorCode code) {
        return () -> {
            throw failure(code);
        };
    }

    /**
     * Returns the requests of the engine that had no key, or another one, with a lock id that the engine has made.
     * There must be none.
     */
    public List<String> requestsWithoutKey() {
        return List.copyOf(requestsWithoutKey);
    }

    private void expectKey(String operation, KeyedLockId id) {
        String asked = keys.get(id.lockId());
        if (asked != null && !asked.equals(id.key())) {
            requestsWithoutKey.add(operation + " '" + asked + "' with the key " + id.key());
        }
    }

    private void expectKeys(List<ExtendRequest> extensions) {
        extensions.forEach(each -> expectKey("extend", new KeyedLockId(each.key(), each.lockId())));
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
        String lockId = store.lockIdFor(key, random);
        keys.put(lockId, key);
        return lockId;
    }

    @Override
    public int serverOf(String lockId) {
        String key = keys.get(lockId);
        return key == null ? store.serverOf(lockId) : servers.applyAsInt(key);
    }

    @Override
    public AcquireResult acquire(AcquireRequest request) {
        acquires.incrementAndGet();
        keys.put(request.lockId(), request.key());
        onAcquire.accept(request);
        beforeAcquire.run();
        AcquireResult attempt = store.acquire(request);
        afterAcquire.run();
        return attempt;
    }

    @Override
    public JointResult acquireTogether(List<AcquireRequest> requests, JointExtent extent) {
        acquiresTogether.incrementAndGet();
        requests.forEach(request -> keys.put(request.lockId(), request.key()));
        requests.forEach(onAcquire);
        beforeAcquire.run();
        JointResult result = store.acquireTogether(requests, extent);
        afterAcquire.run();
        return jointAnswers.apply(result);
    }

    @Override
    public List<ReleaseResult> releaseTogether(List<KeyedLockId> ids) {
        releasesTogether.incrementAndGet();
        ids.forEach(id -> expectKey("release together", id));
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
        expectKey("release", id);
        return release(id, () -> store.release(id));
    }

    @Override
    public ReleaseResult releaseAfter(KeyedLockId id, Duration held) {
        expectKey("release after a time", id);
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
        ids.forEach(id -> expectKey("release in the background", id));
        onReleases.accept(ids);
        beforeRelease.run();
        List<ReleaseResult> outcomes = rowsArePinned
                ? ids.stream()
                        .map(id -> store.lookupById(id).isPresent() ? ReleaseResult.BUSY : ReleaseResult.NOT_FOUND)
                        .toList()
                : store.releaseAll(ids);
        afterRelease.run();
        return outcomes;
    }

    @Override
    public List<ExtendResult> extend(List<ExtendRequest> extensions) {
        extendStatements.incrementAndGet();
        expectKeys(extensions);
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

    /** Runs the hooks of an extension, because a rotation is one, too. */
    @Override
    public ExtendResult rotate(ExtendRequest extension) {
        rotations.incrementAndGet();
        expectKeys(List.of(extension));
        onExtensions.accept(List.of(extension));
        beforeExtend.run();
        ExtendResult outcome = rowsArePinned ? new ExtendResult.Busy() : store.rotate(extension);
        afterExtend.run();
        return outcome;
    }

    @Override
    public List<Duration> renewWaiters(List<KeyedLockId> ids) {
        renewalStatements.incrementAndGet();
        ids.forEach(id -> expectKey("renew", id));
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

    /** Replaces the answer of the store to a forced release. */
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
        expectKey("look up", id);
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
    public void disconnect() {
        store.disconnect();
    }

    @Override
    public void reconnect() {
        store.reconnect();
    }

    @Override
    public void close() {
        closed = true;
        store.close();
    }
}
