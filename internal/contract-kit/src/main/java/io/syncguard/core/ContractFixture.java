package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockMode;
import io.syncguard.LockTemplate;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.ReleaseResult.Outcome;
import io.syncguard.spi.WakeUpListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.assertj.core.api.AbstractDurationAssert;
import org.assertj.core.api.Condition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * One key of one store, and two processes that request it. A {@link ContractStoreProvider} provides the store, empty
 * for each test.
 */
public abstract class ContractFixture {

    protected static final String KEY = "order:42";
    protected static final Duration TTL = Duration.ofMinutes(10);
    protected static final Duration TOLERANCE = Duration.ofMillis(LockBackend.TOLERANCE_MILLIS);

    private final LockIds lockIds = new LockIds();
    private final AtomicLong waiters = new AtomicLong();
    private final List<StoreCalls> opened = new ArrayList<>();
    private final Map<StoreCalls, WakeUpListener> engines = new HashMap<>();

    /** The start of the test. It limits how much of a duration may have passed. */
    private final long began = System.nanoTime();

    private ContractStore store;
    private FenceOrder fences;
    private StoreCalls backend;
    private StoreCalls elsewhere;

    @BeforeEach
    void openBackends(ContractStore empty) {
        store = empty;
        fences = new FenceOrder(empty);
        backend = open();
        elsewhere = open();
    }

    @AfterEach
    void closeBackends() {
        opened.forEach(StoreCalls::close);
    }

    protected final ContractStore store() {
        return store;
    }

    protected final StoreCalls backend() {
        return backend;
    }

    /** The backend of another process. */
    protected final StoreCalls elsewhere() {
        return elsewhere;
    }

    protected final StoreCalls open() {
        StoreCalls another = new StoreCalls(store.newBackend());
        opened.add(another);
        return another;
    }

    protected final void connect(StoreCalls process, WakeUpListener engine) {
        engines.put(process, engine);
        process.connect(engine);
    }

    protected final AcquireRequest writer() {
        return request(KEY, LockMode.EXCLUSIVE, TTL);
    }

    protected final AcquireRequest writer(Duration ttl) {
        return request(KEY, LockMode.EXCLUSIVE, ttl);
    }

    protected final AcquireRequest reader() {
        return request(KEY, LockMode.SHARED, TTL);
    }

    protected final AcquireRequest reader(Duration ttl) {
        return request(KEY, LockMode.SHARED, ttl);
    }

    /** A request for one of this number of permits. */
    protected final AcquireRequest limited(int permits) {
        return request(KEY, LockMode.SHARED, permits, TTL);
    }

    protected final AcquireRequest request(String key, LockMode mode, Duration ttl) {
        return request(key, mode, 0, ttl);
    }

    protected final AcquireRequest request(String key, LockMode mode, int permits, Duration ttl) {
        return Requests.of(key, mode, permits, backend.lockIdFor(key, lockIds.next()), ttl, "test", false, false, null);
    }

    /** A lock id that no lease of the key has. */
    protected final String newLockId() {
        return backend.lockIdFor(KEY, lockIds.next());
    }

    /** Like {@link #newLockId}, with the key. */
    protected final KeyedLockId newKeyedLockId() {
        return new KeyedLockId(KEY, newLockId());
    }

    /** The request of a caller who waits. */
    protected final AcquireRequest waiting(AcquireRequest request) {
        return request.waitingAs(waiters.incrementAndGet());
    }

    protected final AcquireRequest waitingWriter() {
        return waiting(writer());
    }

    protected final AcquireRequest waitingReader() {
        return waiting(reader());
    }

    protected static AcquireRequest acceptingHandOver(AcquireRequest request) {
        return Requests.of(
                request.key(),
                request.options().mode(),
                request.options().permits(),
                request.lockId(),
                request.options().ttl(),
                request.options().owner(),
                true,
                request.queued(),
                request.waiterNumber());
    }

    /** The last attempt of a caller who has waited. */
    protected static AcquireRequest lastTry(AcquireRequest request) {
        return Requests.of(
                request.key(),
                request.options().mode(),
                request.options().permits(),
                request.lockId(),
                request.options().ttl(),
                request.options().owner(),
                false,
                false,
                null);
    }

    protected final AcquireResult.Granted granted(AcquireRequest request) {
        return granted(backend, request);
    }

    protected final AcquireResult.Granted granted(StoreCalls process, AcquireRequest request) {
        AcquireResult attempt = process.acquire(request);
        assertThat(attempt).isInstanceOf(AcquireResult.Granted.class);
        return (AcquireResult.Granted) attempt;
    }

    protected final AcquireRequest held(AcquireRequest request) {
        granted(request);
        return request;
    }

    protected final AcquireResult.Refused refused(AcquireRequest request) {
        AcquireResult attempt = backend.acquire(request);
        assertThat(attempt).isInstanceOf(AcquireResult.Refused.class);
        return (AcquireResult.Refused) attempt;
    }

    protected final AcquireResult.Queued queued(AcquireRequest request) {
        return queued(backend, request);
    }

    protected final AcquireResult.Queued queued(StoreCalls process, AcquireRequest request) {
        AcquireResult attempt = process.acquire(request);
        assertThat(attempt).isInstanceOf(AcquireResult.Queued.class);
        return (AcquireResult.Queued) attempt;
    }

    /** Puts a writer into the queue. */
    protected final AcquireRequest queuedWriter() {
        AcquireRequest request = waitingWriter();
        queued(request);
        return request;
    }

    /** Puts a reader into the queue. */
    protected final AcquireRequest queuedReader() {
        AcquireRequest request = waitingReader();
        queued(request);
        return request;
    }

    protected final void release(AcquireRequest request) {
        release(backend, request);
    }

    protected final void release(StoreCalls process, AcquireRequest request) {
        assertThat(delivered(process, process.release(request.keyedLockId()))).isEqualTo(Outcome.RELEASED);
    }

    /** Delivers the hand-over of the answer, if the store has sent no message, as the engine of the process does. */
    protected final Outcome delivered(StoreCalls process, ReleaseResult answer) {
        answer.handOvers()
                .forEach(handOver -> Objects.requireNonNull(engines.get(process))
                        .handOver(handOver.waiterNumber(), handOver.grant()));
        return answer.outcome();
    }

    protected final void leave(AcquireRequest request) {
        assertThat(backend.release(request.keyedLockId())).isEqualTo(ReleaseResult.LEFT);
    }

    protected final void expireLease(AcquireRequest request) {
        store.expireLease(request.lockId());
    }

    protected final void expireQueueEntry(AcquireRequest request) {
        store.endQueueEntryIn(request.lockId(), Duration.ZERO);
    }

    protected static ExtendRequest extension(AcquireRequest request, Duration ttl) {
        return Requests.extension(request.key(), request.lockId(), ttl);
    }

    protected final ExtendResult extend(AcquireRequest request, Duration ttl) {
        return backend.extendAll(List.of(extension(request, ttl))).get(0);
    }

    protected final ExtendResult rotate(AcquireRequest request, Duration ttl) {
        return backend.rotate(extension(request, ttl));
    }

    protected final Duration renewQueueEntry(AcquireRequest request) {
        return backend.renewWaiters(List.of(request.keyedLockId())).get(0);
    }

    /** The fence of the key that was drawn after n - 1 others. */
    protected final Condition<Fence> nth(long n) {
        return nth(KEY, n);
    }

    protected final Condition<Fence> nth(String key, long n) {
        return fences.nth(key, n);
    }

    /** Asserts that this number of fences was drawn for the key. */
    protected final void assertDrawn(long n) {
        assertThat(new Fence(store.storedFence(KEY))).is(nth(n));
    }

    /** Asserts that this duration was left at some moment of this test. */
    protected final void assertLeft(Duration left, Duration expected) {
        AbstractDurationAssert<?> assertion = assertThat(left);
        assertion.isBetween(expected.minusNanos(System.nanoTime() - began).minusMillis(2), expected);
    }

    /** Runs the work in many threads of several processes. */
    protected final void inProcesses(int processes, int threads, Work work) throws Exception {
        List<LockEngine> engines = IntStream.range(0, processes)
                .mapToObj(i -> new LockEngine(
                        store.newBackend(), DefaultSettings.of("test"), TransactionBoundary.NONE, List.of()))
                .toList();
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            for (Future<Void> future : executor.invokeAll(IntStream.range(0, threads)
                    .<Callable<Void>>mapToObj(thread -> () -> {
                        work.run(new LockTemplate(engines.get(thread % processes)));
                        return null;
                    })
                    .toList())) {
                future.get();
            }
        } finally {
            executor.shutdownNow();
            engines.forEach(LockEngine::close);
        }
    }

    @FunctionalInterface
    protected interface Work {
        void run(LockTemplate locks) throws Exception;
    }
}
