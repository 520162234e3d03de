package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockOperation;
import io.syncguard.LockRequest;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.memory.InMemoryStore;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * One process on a clock that the test moves. Its store is in memory and uses the same clock, or is a real server with
 * a clock of its own. As a registered extension of a test class, it is closed after each test.
 */
public final class EngineFixture implements AfterEachCallback, AutoCloseable {

    public static final Duration TTL = Duration.ofSeconds(30);

    private static final String THREAD = "another";

    private static final Duration RARELY = Duration.ofMillis(100);

    private static final Pattern SENDER = Pattern.compile("syncguard-(heartbeat|waiters|release)-\\d+");

    public final ManualTime time = new ManualTime();
    public final InMemoryStore store = new InMemoryStore(() -> time.nanoTime() / 1_000_000);
    public final InterceptedBackend backend;

    private final Set<Thread> sendersOfOthers = senders().collect(Collectors.toSet());

    private final InMemoryLockBackend memory;
    private final StoreCalls server;

    /** Another process on the same store; on a real server, this process. */
    private final StoreCalls elsewhere;

    /** The names of the events in the order of their arrival. */
    public final List<String> events = new CopyOnWriteArrayList<>();

    public final LockEngine engine;

    public EngineFixture() {
        this(TransactionBoundary.NONE);
    }

    public EngineFixture(TransactionBoundary transactions) {
        this(null, DefaultSettings.of("test"), transactions, List.of(), LockObserver.NONE);
    }

    EngineFixture(LockListener listener) {
        this(null, DefaultSettings.of("test"), TransactionBoundary.NONE, List.of(listener), LockObserver.NONE);
    }

    public EngineFixture(LockObserver observer, LockListener... listeners) {
        this(null, DefaultSettings.of("test"), TransactionBoundary.NONE, List.of(listeners), observer);
    }

    public EngineFixture(EngineSettings settings, TransactionBoundary transactions) {
        this(null, settings, transactions, List.of(), LockObserver.NONE);
    }

    /** Creates a fixture on a real server, which uses its own clock. {@link #store} stays empty. */
    public EngineFixture(LockBackend server) {
        this(server, DefaultSettings.of("test"), TransactionBoundary.NONE, List.of(), LockObserver.NONE);
    }

    private EngineFixture(
            @Nullable LockBackend server,
            EngineSettings settings,
            TransactionBoundary transactions,
            List<LockListener> listeners,
            LockObserver observer) {
        this.memory = new InMemoryLockBackend(store);
        this.server = new StoreCalls(server == null ? memory : server);
        this.elsewhere = server == null ? new StoreCalls(new InMemoryLockBackend(store)) : this.server;
        this.backend = new InterceptedBackend(this.server);
        this.engine = new LockEngine(
                backend,
                settings,
                transactions,
                Stream.concat(listeners.stream(), Stream.of(new Recorder())).toList(),
                observer,
                time);
    }

    /** Stops the delivery of wake-ups, and notifies the engine of that. */
    void disconnect() {
        memory.deliverWakeUps(false);
        backend.engine.wakeUpsMissed();
    }

    /** Sets whether wake-ups arrive from now on. Does not notify the engine of the change. */
    public void deliverWakeUps(boolean delivers) {
        memory.deliverWakeUps(delivers);
    }

    /** Lets another process hold the key. */
    public AcquireRequest holdElsewhere(String key, Duration ttl) {
        AcquireRequest request = Requests.exclusive(key, new LockIds().next(), ttl, "elsewhere");
        server.acquire(request);
        return request;
    }

    /** Lets another process hold the key as a reader. */
    AcquireRequest readElsewhere(String key, Duration ttl) {
        AcquireRequest request = Requests.shared(key, new LockIds().next(), ttl, "elsewhere");
        server.acquire(request);
        return request;
    }

    /** Lets a writer of another process wait for the key. */
    public AcquireRequest queueElsewhere(String key) {
        AcquireRequest request =
                Requests.exclusive(key, new LockIds().next(), TTL, "elsewhere").waitingAs(0);
        new StoreCalls(new InMemoryLockBackend(store)).acquire(request);
        return request;
    }

    /**
     * Lets another thread request the key, and waits until it has a queue entry and has read the clock for its wait.
     */
    public FutureTask<LockHandle> startWaiting(LockRequest request) {
        int before = store.queue(request.key()).size();
        FutureTask<LockHandle> waiter = new FutureTask<>(() -> engine.acquire(request));
        Thread thread = start(waiter);
        eventually().until(() -> store.queue(request.key()).size() == before + 1 && time.hasLooked(thread, 1));
        return waiter;
    }

    public void releaseElsewhere(AcquireRequest request) {
        elsewhere
                .release(request.keyedLockId())
                .handOvers()
                .forEach(handOver -> backend.engine.handOver(handOver.waiterNumber(), handOver.grant()));
    }

    /** Lets a release of this process reach the store. Its answer is lost. */
    void releaseUnanswered(String lockId) {
        ReleaseResult unused = server.release(lockId);
    }

    /**
     * Does what {@link #releaseElsewhere} does while wake-ups of this process get lost. Afterwards the engine is
     * notified of that.
     */
    void releaseUnnoticed(AcquireRequest request) {
        InMemoryLockBackend own = memory;
        own.deliverWakeUps(false);
        elsewhere.release(request.keyedLockId());
        own.deliverWakeUps(true);
        backend.engine.wakeUpsMissed();
    }

    /** Delivers a request of this process, which the engine has given up, to the store now. */
    void deliver(AcquireRequest request) {
        server.acquire(request);
    }

    /** Moves the clock in steps that give every thread of the engine its turn. */
    public void advanceSlowly(Duration by, Duration step) {
        for (Duration left = by; left.compareTo(Duration.ZERO) > 0; left = left.minus(step)) {
            time.advance(step);
            settle();
        }
    }

    /**
     * Moves the clock second by second until the condition is true, because a thread may begin to wait for a time only
     * now. While no thread of the test waits on the clock any more, it moves the clock rarely: on a busy machine, a
     * deadline would pass before the last request is sent.
     */
    public void advanceUntil(Callable<Boolean> done) {
        Map<Thread, Long> read = new HashMap<>();
        AtomicLong advancedAt = new AtomicLong(System.nanoTime());
        eventually().until(() -> {
            Map<Thread, Long> looks = time.looks();
            List<Thread> ofTest = looks.keySet().stream()
                    .filter(each -> each.getName().equals(THREAD) && each.isAlive())
                    .toList();
            if (ofTest.isEmpty()
                    || ofTest.stream().anyMatch(each -> looks.getOrDefault(each, 0L) >= read.getOrDefault(each, 0L) + 2)
                    || System.nanoTime() - advancedAt.get() > RARELY.toNanos()) {
                time.advance(Duration.ofSeconds(1));
                read.putAll(looks);
                advancedAt.set(System.nanoTime());
            }
            return done.call();
        });
    }

    /**
     * Waits until every thread that waits on the clock has read the new time and has acted on it, and until the engine
     * has acted on the answers to its requests. Each has to read it twice, because the first read may come just before
     * the new time. Waits ten milliseconds at least, for threads that do not wait on the clock yet.
     */
    public void settle() {
        awaitLooks(10_000_000L);
        eventually().until(this::noRequestIsUnderWay);
        awaitLooks(0);
    }

    private void awaitLooks(long atLeastNanos) {
        long began = System.nanoTime();
        Map<Thread, Long> before = time.looks();
        eventually()
                .until(() -> System.nanoTime() - began > atLeastNanos
                        && before.entrySet().stream()
                                .allMatch(each -> time.hasLooked(each.getKey(), each.getValue() + 2)));
    }

    /** A request that a test holds back is not under way. */
    private boolean noRequestIsUnderWay() {
        return senders()
                .filter(thread -> !sendersOfOthers.contains(thread))
                .noneMatch(thread -> thread.getState() == Thread.State.RUNNABLE);
    }

    private static Stream<Thread> senders() {
        Thread[] threads = new Thread[2 * Thread.activeCount() + 10];
        return Stream.of(threads)
                .limit(Thread.enumerate(threads))
                .filter(thread -> SENDER.matcher(thread.getName()).matches());
    }

    public static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(10)).pollInterval(Duration.ofMillis(2));
    }

    /** Returns the result. Waits no longer than {@link #eventually}. */
    public static <T> T got(FutureTask<T> task) throws Exception {
        eventually().until(task::isDone);
        return task.get();
    }

    public static <T> FutureTask<T> inAnotherThread(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        start(task);
        return task;
    }

    private static Thread start(FutureTask<?> task) {
        Thread thread = new Thread(task, THREAD);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    @Override
    public void afterEach(ExtensionContext context) {
        close();
    }

    @Override
    public void close() {
        FutureTask<Void> closing = inAnotherThread(() -> {
            engine.close();
            return null;
        });
        advanceUntil(closing::isDone);
        assertThat(backend.requestsWithoutKey()).as("the engine knows the key").isEmpty();
    }

    private final class Recorder implements LockListener {

        @Override
        public void waitStarted(LockEvent event) {
            events.add("waitStarted");
        }

        @Override
        public void waitEnded(LockEvent event) {
            events.add("waitEnded");
        }

        @Override
        public void acquired(LockEvent event) {
            events.add("acquired");
        }

        @Override
        public void refused(LockEvent event) {
            events.add("refused");
        }

        @Override
        public void extended(LockEvent event) {
            events.add("extended");
        }

        @Override
        public void released(LockEvent event) {
            events.add("released");
        }

        @Override
        public void lost(LockEvent event) {
            events.add("lost");
        }

        @Override
        public void leaked(LockEvent event) {
            events.add("leaked");
        }

        @Override
        public void failed(LockEvent event, LockOperation operation, LockException error) {
            events.add("failed " + operation + " " + error.code());
        }
    }
}
