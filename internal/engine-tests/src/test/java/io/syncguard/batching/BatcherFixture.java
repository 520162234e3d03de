package io.syncguard.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.concurrent.Time;
import io.syncguard.core.ManualTime;
import io.syncguard.testing.ScarceThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A batcher on a clock and a store that the test moves. Registered in a test class it is closed after each test. */
final class BatcherFixture implements AfterEachCallback {

    static final int BATCH_SIZE = 3;
    static final Duration WAIT_LIMIT = Duration.ofSeconds(10);
    static final Duration PATIENCE = Duration.ofMillis(Batcher.LONE_LIMIT_MILLIS);

    private static final AtomicInteger made = new AtomicInteger();

    final ManualTime time = new ManualTime();
    final ManualStore store = new ManualStore();
    final ScarceThreads maker = new ScarceThreads();
    final Batcher<StoreRequest, String> batcher;

    private final String name = "batcher" + made.incrementAndGet();
    private final Map<Thread, CountDownLatch> stops = new ConcurrentHashMap<>();
    private final Set<Thread> stopped = ConcurrentHashMap.newKeySet();

    private BatcherFixture(int statements, boolean batchesOnly) {
        Batcher.Limits limits = new Batcher.Limits(statements, BATCH_SIZE, WAIT_LIMIT, batchesOnly);
        AtomicInteger number = new AtomicInteger();
        batcher = new Batcher<>(
                work -> DaemonThreadFactory.named(name + "-" + number.incrementAndGet(), maker)
                        .newThread(work),
                store,
                limits,
                new StoppingTime());
    }

    /** Creates a batcher with this limit of statements under way. */
    static BatcherFixture withRoomFor(int statements) {
        return new BatcherFixture(statements, false);
    }

    static BatcherFixture withBatchesOnly(int statements) {
        return new BatcherFixture(statements, true);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        stops.values().forEach(CountDownLatch::countDown);
        batcher.close();
        soon().until(() -> {
            store.answerAll();
            return threads().isEmpty();
        });
    }

    BatchCaller send(String name) {
        return send(StoreRequest.of(name));
    }

    /** Returns once the request is under way or waits. */
    BatchCaller send(StoreRequest request) {
        BatchCaller caller = new BatchCaller(batcher, request);
        soon().until(() -> store.wasSentBy(caller.thread) || looks(caller.thread) > 0 || caller.hasEnded());
        return caller;
    }

    List<BatchCaller> sendEach(String... names) {
        List<BatchCaller> callers = new ArrayList<>();
        for (String each : names) {
            callers.add(send(each));
        }
        return callers;
    }

    /** Reaches the limit of statements: each of the names is sent alone, and stays under way. */
    List<ManualStatement> occupy(String... names) {
        List<ManualStatement> statements = new ArrayList<>();
        for (String each : names) {
            BatchCaller caller = send(each);
            ManualStatement statement = store.nextAlone();
            assertThat(statement.thread).isSameAs(caller.thread);
            statements.add(statement);
        }
        return statements;
    }

    /** Asserts that a request is sent at once. It stays under way. */
    void hasRoomFor(String name) {
        send(name);
        assertThat(store.next().names()).containsExactly(name);
    }

    /**
     * Asserts that the callers still wait after they have looked at their state twice, and that nothing new was sent
     * meanwhile.
     */
    void stillWait(BatchCaller... callers) {
        List<ManualStatement> before = store.underWay();
        for (BatchCaller caller : callers) {
            awaitLooks(caller.thread);
            assertThat(caller.hasEnded()).as("%s", caller).isFalse();
        }
        assertThat(store.underWay()).isEqualTo(before);
    }

    /** Lets each idle thread look at the clock twice, and do what is due. */
    void idleThreadsLook() {
        threads().stream()
                .filter(thread -> store.underWay().stream().noneMatch(statement -> statement.thread == thread))
                .forEach(this::awaitLooks);
    }

    /** The threads of the batcher, after a batch has needed them. */
    List<Thread> madeThreads() {
        BatchCaller caller = send("first");
        store.nextBatch().answer();
        caller.getsItsAnswer();
        return threads();
    }

    /** The threads of the batcher that are alive. */
    List<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(name + "-"))
                .toList();
    }

    /** Stops a thread where it waits, with the lock that it waits with. */
    void stop(Thread thread) {
        stops.put(thread, new CountDownLatch(1));
        soon().until(() -> stopped.contains(thread));
    }

    void goOn(Thread thread) {
        stops.remove(thread).countDown();
    }

    private static ConditionFactory soon() {
        return Awaitility.await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(1));
    }

    /** Waits until the thread, which waits on the clock, has looked at it twice. */
    void awaitLooks(Thread thread) {
        long looks = looks(thread);
        soon().until(() -> looks(thread) >= looks + 2);
    }

    private long looks(Thread thread) {
        return time.looks().getOrDefault(thread, 0L);
    }

    private final class StoppingTime implements Time {

        @Override
        public long nanoTime() {
            return time.nanoTime();
        }

        @Override
        public void await(Condition condition, long nanos) throws InterruptedException {
            CountDownLatch stop = stops.get(Thread.currentThread());
            if (stop != null) {
                stopped.add(Thread.currentThread());
                stop.await(1, TimeUnit.MINUTES);
                stopped.remove(Thread.currentThread());
            }
            time.await(condition, nanos);
        }

        @Override
        public void sleep(long nanos) throws InterruptedException {
            time.sleep(nanos);
        }
    }
}
