package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockInfo;
import io.syncguard.LockMode;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.LockSummary;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.Answers;
import io.syncguard.spi.BlockingSession;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.Hashes;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LeasePins;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.LockDirectory;
import io.syncguard.spi.PoolStatus;
import io.syncguard.spi.ReleaseRequest;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.StoreInfo;
import io.syncguard.spi.WakeUpListener;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * A backend behind a network that a test controls: the actions of the test run before or after the store executes a
 * request.
 */
public final class InterceptedBackend extends StoreCalls {

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
    public volatile Consumer<String> beforeForcedRelease = key -> {};
    public volatile Runnable afterForcedRelease = NOTHING;
    public volatile Runnable beforeLookup = NOTHING;
    public volatile boolean rowsArePinned;

    /** Changes the answers to calls for several keys. */
    public volatile UnaryOperator<List<AcquireResult>> jointAnswers = result -> result;

    /** The number of the server of a key. */
    public volatile ToIntFunction<String> servers = key -> 0;

    public volatile List<BlockingSession> blockingSessions = List.of();
    public volatile @Nullable PoolStatus pool;

    /** Replaces the value of the store. */
    public volatile @Nullable Duration inDoubtPeriod;

    /** Replaces the answer of the store. */
    private volatile @Nullable ForcedRelease forcedRelease;

    /** The engine that receives the wake-ups of the store. */
    @SuppressWarnings("NullAway.Init")
    volatile WakeUpListener engine;

    public volatile boolean closed;

    private final StoreCalls store;

    /** The keys that the engine has requested, by lock id. */
    private final Map<String, String> keys = new ConcurrentHashMap<>();

    private final Queue<String> requestsWithoutKey = new ConcurrentLinkedQueue<>();

    public InterceptedBackend(LockBackend store) {
        super(new StoreCalls(store));
        this.store = (StoreCalls) store();
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

    @Override
    public StoreInfo info() {
        StoreInfo info = store.info();
        Duration other = inDoubtPeriod;
        return other == null
                ? info
                : new StoreInfo(
                        info.backend(), info.timeout(), info.waiterTtl(), other, info.servers(), info.batching());
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
    public CompletionStage<List<AcquireResult>> acquire(List<AcquireRequest> requests, GrantExtent extent) {
        boolean together = extent != GrantExtent.ONE;
        (together ? acquiresTogether : acquires).incrementAndGet();
        requests.forEach(request -> keys.put(request.lockId(), request.key()));
        requests.forEach(onAcquire);
        beforeAcquire.run();
        List<AcquireResult> results = store.acquireTogether(requests, extent);
        afterAcquire.run();
        return CompletableFuture.completedFuture(together ? jointAnswers.apply(results) : results);
    }

    @Override
    public CompletionStage<List<ReleaseResult>> release(List<ReleaseRequest> requests) {
        ReleaseRequest first = requests.get(0);
        List<KeyedLockId> ids = requests.stream().map(ReleaseRequest::id).toList();
        if (!first.handsOver() && first.heldFor() == null) {
            return CompletableFuture.completedFuture(releaseInBackground(ids));
        }
        if (requests.size() > 1) {
            return CompletableFuture.completedFuture(releasedTogether(ids));
        }
        if (first.handsOver()) {
            releases.incrementAndGet();
        }
        expectKey("release", first.id());
        beforeRelease.run();
        List<ReleaseResult> outcome =
                rowsArePinned && store.lookupById(first.id()).isPresent()
                        ? List.of(ReleaseResult.BUSY)
                        : Answers.await(() -> store.release(requests));
        afterRelease.run();
        return CompletableFuture.completedFuture(outcome);
    }

    private List<ReleaseResult> releasedTogether(List<KeyedLockId> ids) {
        releasesTogether.incrementAndGet();
        ids.forEach(id -> expectKey("release together", id));
        beforeRelease.run();
        List<ReleaseResult> results = ids.stream()
                .map(id -> rowsArePinned ? ReleaseResult.BUSY : store.release(id))
                .toList();
        afterRelease.run();
        return results;
    }

    private List<ReleaseResult> releaseInBackground(List<KeyedLockId> ids) {
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

    /** Runs the hooks of an extension for a rotation as well. */
    @Override
    public CompletionStage<List<ExtendResult>> extend(List<ExtendRequest> extensions) {
        boolean rotates = extensions.get(0).kind() == ExtendRequest.Kind.NEXT_FENCE;
        (rotates ? rotations : extendStatements).incrementAndGet();
        extensions.forEach(each -> expectKey("extend", each.id()));
        onExtensions.accept(extensions);
        beforeExtend.run();
        List<ExtendResult> outcomes = rowsArePinned
                ? extensions.stream()
                        .<ExtendResult>map(each -> new ExtendResult.Busy())
                        .toList()
                : store.extendAll(extensions);
        afterExtend.run();
        return CompletableFuture.completedFuture(outcomes);
    }

    @Override
    public CompletionStage<List<Duration>> renew(List<KeyedLockId> ids) {
        renewalStatements.incrementAndGet();
        ids.forEach(id -> expectKey("renew", id));
        onRenewal.accept(ids);
        beforeRenewal.run();
        List<Duration> nextLooks = store.renewWaiters(ids);
        afterRenewal.run();
        return CompletableFuture.completedFuture(nextLooks);
    }

    @Override
    public BooleanSupplier connect(WakeUpListener wakeUps) {
        engine = wakeUps;
        return super.connect(wakeUps);
    }

    /** Replaces the answer of the store to a forced release. */
    public void answerForcedRelease(String key, int released, int remaining) {
        forcedRelease = new ForcedRelease(
                key, leases(key, 500, released), leases(key, 1, remaining), released == 0 ? null : new Fence(1000));
    }

    private static List<LockInfo> leases(String key, long firstFence, int number) {
        return LongStream.range(firstFence, firstFence + number)
                .mapToObj(fence -> new LockInfo(
                        Hashes.abbreviated(key),
                        "lease-" + fence,
                        LockMode.SHARED,
                        Instant.EPOCH,
                        Instant.EPOCH,
                        new Fence(fence),
                        "another process"))
                .toList();
    }

    @Override
    public LockDirectory directory() {
        return new InterceptedDirectory();
    }

    /** Has nothing but the blocking sessions, if there are any. */
    @Override
    public @Nullable LeasePins pins() {
        List<BlockingSession> sessions = blockingSessions;
        return sessions.isEmpty()
                ? store.pins()
                : (LeasePins) Proxy.newProxyInstance(
                        getClass().getClassLoader(), new Class<?>[] {LeasePins.class}, (pins, method, arguments) -> {
                            if (method.getName().equals("blockingSessions")) {
                                return sessions;
                            }
                            throw new UnsupportedOperationException(method.getName());
                        });
    }

    @Override
    public @Nullable PoolStatus pool() {
        return pool;
    }

    @Override
    public void close() {
        closed = true;
        store.close();
    }

    private final class InterceptedDirectory implements LockDirectory {

        @Override
        public boolean isLocked(String key) {
            beforeLookup.run();
            return store.isLocked(key);
        }

        @Override
        public List<RawLockInfo> lookup(String key) {
            beforeLookup.run();
            return store.lookup(key);
        }

        @Override
        public Optional<RawLockInfo> lookupById(KeyedLockId id) {
            expectKey("look up", id);
            beforeLookup.run();
            return store.lookupById(id);
        }

        @Override
        public LockPage list(LockQuery query) {
            beforeLookup.run();
            return store.list(query);
        }

        @Override
        public LockSummary summary() {
            beforeLookup.run();
            return store.summary();
        }

        @Override
        public Optional<LockStatus> status(String key) {
            beforeLookup.run();
            return store.status(key);
        }

        @Override
        public ForcedRelease forceRelease(String key, @Nullable Fence only) {
            beforeForcedRelease.accept(key);
            ForcedRelease done = store.directory().forceRelease(key, only);
            afterForcedRelease.run();
            return Objects.requireNonNullElse(forcedRelease, done);
        }
    }
}
