package io.syncguard.verification.outages;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockQuery;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.StoreCalls;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.postgres.PostgresSettings;
import io.syncguard.spi.PoolStatus;
import io.syncguard.testing.PostgresProxy;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.RedisProxy;
import io.syncguard.testing.RedisServer;
import io.syncguard.testing.ServerProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Interrupts at any moment end the calls of the interrupted threads, and nothing else. */
@Tag("verification")
class ManyInterruptsTests {

    private static final int INTERRUPTS = 1_500;
    private static final int THREADS = 6;

    /** Answers take so long that most interrupts meet a request. */
    private static final Duration ANSWER = Duration.ofMillis(20);

    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicLong calls = new AtomicLong();
    private final AtomicLong interrupted = new AtomicLong();
    private final Queue<Throwable> unexpected = new ConcurrentLinkedQueue<>();

    @ParameterizedTest
    @ValueSource(strings = {"postgres", "redis"})
    void end_the_calls_of_the_interrupted_threads_and_leave_nothing(String store) throws Exception {
        try (ServerProxy proxy = store.equals("redis")
                        ? new RedisProxy(RedisServer.url())
                        : new PostgresProxy(PostgresServer.newDatabaseUrl());
                StoreCalls backend =
                        ApplicationBackend.on(proxy.url(), 4, Duration.ofSeconds(20), PostgresSettings.WAITER_TTL);
                LockEngine engine = new LockEngine(
                        backend,
                        new EngineSettings(
                                "test",
                                Duration.ofMinutes(10),
                                Duration.ofMillis(200),
                                Duration.ofHours(1),
                                Duration.ofHours(1),
                                Duration.ZERO,
                                Duration.ZERO,
                                Map.of()),
                        TransactionBoundary.NONE,
                        List.of())) {
            proxy.delayAnswers(ANSWER);
            List<Thread> victims = start(engine, true);
            List<Thread> bystanders = start(engine, false);
            Random random = new Random(35);
            for (int i = 0; i < INTERRUPTS; i++) {
                victims.get(random.nextInt(THREADS)).interrupt();
                long before = calls.get();
                Awaitility.await()
                        .pollInterval(Duration.ofMillis(1))
                        .pollDelay(Duration.ZERO)
                        .atMost(Duration.ofSeconds(30))
                        .until(() -> calls.get() > before);
            }
            stop.set(true);
            for (List<Thread> threads : List.of(victims, bystanders)) {
                for (Thread thread : threads) {
                    thread.join(Duration.ofMinutes(1).toMillis());
                    assertThat(thread.isAlive()).isFalse();
                }
            }
            proxy.delayAnswers(Duration.ZERO);

            assertThat(unexpected).isEmpty();
            assertThat(interrupted.get()).isGreaterThan(INTERRUPTS / 10);
            Awaitility.await()
                    .atMost(Duration.ofMinutes(1))
                    .untilAsserted(() -> assertThat(engine.admin()
                                    .list(LockQuery.all().startingWith("interrupted:"))
                                    .locks())
                            .isEmpty());
            PoolStatus pool = backend.pool();
            assertThat(pool == null ? 0 : pool.active()).isZero();
        }
    }

    private List<Thread> start(LockEngine engine, boolean victims) {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Random random = new Random(i);
            threads.add(new Thread(() -> {
                while (!stop.get()) {
                    call(engine, random, victims);
                }
            }));
        }
        threads.forEach(Thread::start);
        return threads;
    }

    private void call(LockEngine engine, Random random, boolean victim) {
        try {
            if (random.nextInt(4) == 0) {
                engine.admin().lookup(key(0));
            } else if (random.nextBoolean()) {
                new LockTemplate(engine).execute(LockRequest.of(key(0)), lock -> {
                    assertThat(inside.incrementAndGet()).isOne();
                    return inside.decrementAndGet();
                });
            } else {
                engine.acquire(LockRequest.of(key(1))).close();
            }
        } catch (LockNotAcquiredException ex) {
            // The others were there before.
        } catch (Throwable ex) {
            if (victim && ex instanceof LockException known && known.code() == LockErrorCode.ABORTED) {
                interrupted.incrementAndGet();
            } else {
                unexpected.add(ex);
            }
        } finally {
            boolean flag = Thread.interrupted();
            if (flag && !victim) {
                unexpected.add(new AssertionError("interrupted"));
            }
            calls.incrementAndGet();
        }
    }

    private static String key(int i) {
        return "interrupted:" + i;
    }
}
