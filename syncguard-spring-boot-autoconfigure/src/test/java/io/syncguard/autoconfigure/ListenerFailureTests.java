package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.syncguard.DistributedLock;
import io.syncguard.ForcedRelease;
import io.syncguard.LockErrorCode;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockOperation;
import io.syncguard.LockRequest;
import io.syncguard.LockStatus;
import io.syncguard.LockTemplate;
import io.syncguard.core.LockEngine;
import io.syncguard.leader.LeaderElectedEvent;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderFenceRotatedEvent;
import io.syncguard.leader.LeaderListener;
import io.syncguard.leader.LeaderMember;
import io.syncguard.leader.LeaderRevokedEvent;
import io.syncguard.leader.LeaderSettings;
import io.syncguard.reactive.ReactiveLockTemplate;
import io.syncguard.testing.UsualBuild;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

/** A listener that throws anything, from each of its methods, changes no call and strands no lease. */
@Timeout(120)
class ListenerFailureTests {

    private static final String KEY = "order:42";

    /** The methods of both listeners that a test has to reach. */
    private static final Set<String> CALLED = ConcurrentHashMap.newKeySet();

    private static TestDatabase database;

    private static volatile Supplier<Throwable> failure = IllegalStateException::new;

    /** The only method that fails; {@code null} for all. */
    private static volatile String only;

    @BeforeAll
    static void open() {
        database = TestDatabase.withSchema();
    }

    @AfterEach
    void reset() {
        only = null;
        Thread.interrupted();
    }

    /** Kotlin throws checked exceptions from any method; others throw what no catch clause of an application names. */
    static Stream<Supplier<Throwable>> failures() {
        return UsualBuild.first(
                2,
                Stream.of(
                        named(IllegalStateException::new),
                        named(() -> new IOException("no broker")),
                        named(() -> new Throwable("neither an exception nor an error")),
                        named(StackOverflowError::new),
                        named(() -> new NoClassDefFoundError("io/example/Gone")),
                        named(() -> new Error("like ThreadDeath")),
                        named(() -> new LockNotAcquiredException(KEY, "of the listener"))));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void a_call_and_a_wait_succeed_and_leave_nothing_behind(Supplier<Throwable> what) {
        run(what, application -> {
            LockTemplate locks = application.getBean(LockTemplate.class);
            LockHandle other = locks.manager()
                    .acquire(LockRequest.of("other").ttl(Duration.ofSeconds(5)).heartbeat(Duration.ofMillis(50)));
            CountDownLatch held = new CountDownLatch(1);
            FutureTask<String> first = inAnotherThread(() -> locks.execute(KEY, lock -> {
                held.countDown();
                await().until(() -> CALLED.contains("waitStarted"));
                assertThat(locks.manager().tryAcquire(LockRequest.of("other").meterName("refused")))
                        .isNull();
                return "first";
            }));
            held.await();

            assertThat(locks.<String, RuntimeException>execute(KEY, lock -> {
                        assertThat(lock.extend(Duration.ofSeconds(30))).isTrue();
                        return "second";
                    }))
                    .isEqualTo("second");

            assertThat(first.get()).isEqualTo("first");
            assertNothingLeft(locks.manager());
            await().until(() -> CALLED.contains("extended"));
            assertThat(locks.manager().admin().forceRelease("other", "test").released())
                    .hasSize(1);
            await().untilAsserted(() -> assertThat(CALLED)
                    .contains(
                            "waitStarted",
                            "waitEnded",
                            "acquired",
                            "refused",
                            "extended",
                            "released",
                            "lost",
                            "forceReleased"));
            assertThat(other.state()).isEqualTo(LockHandle.State.LOST);
        });
    }

    @ParameterizedTest
    @MethodSource("failures")
    void annotated_methods_return_and_futures_complete(Supplier<Throwable> what) {
        run(what, application -> {
            Orders orders = application.getBean(Orders.class);

            assertThat(orders.submit("42")).isEqualTo("submitted 42");
            assertThat(orders.submitLater("42", CompletableFuture.completedFuture("now")))
                    .succeedsWithin(Duration.ofSeconds(10))
                    .isEqualTo("now");
            CompletableFuture<String> source = new CompletableFuture<>();
            CompletableFuture<String> later = orders.submitLater("42", source);
            source.complete("later");
            assertThat(later).succeedsWithin(Duration.ofSeconds(10)).isEqualTo("later");
            assertThat(application
                            .getBean(ReactiveLockTemplate.class)
                            .mono(KEY, lock -> Mono.just("reactive"))
                            .block(Duration.ofSeconds(10)))
                    .isEqualTo("reactive");

            assertNothingLeft(application.getBean(LockManager.class));
        });
    }

    @ParameterizedTest
    @MethodSource("failures")
    void a_campaign_goes_on_and_another_member_leads_after_it(Supplier<Throwable> what) {
        run(
                what,
                one -> run(what, two -> {
                    LeaderMember first = join(one);
                    await().until(first::isLeader);
                    LeaderMember second = join(two);

                    first.leave();

                    await().until(second::isLeader);
                    LeaderMember again = join(one);
                    second.leave();
                    await().until(again::isLeader);
                    await().until(() -> CALLED.contains("elected") && CALLED.contains("revoked"));
                }));
    }

    @Test
    void an_interrupted_exception_of_a_listener_is_an_interrupt_of_its_caller() {
        only = "acquired";
        run(InterruptedException::new, application -> {
            try (LockHandle lock = application.getBean(LockManager.class).acquire(LockRequest.of(KEY))) {
                assertThat(lock.isHeld()).isTrue();
                assertThat(Thread.interrupted()).isTrue();
            }
            assertNothingLeft(application.getBean(LockManager.class));
            assertThat(Thread.interrupted()).isTrue();
        });
        only = "waitStarted";
        run(InterruptedException::new, application -> {
            LockManager locks = application.getBean(LockManager.class);
            CountDownLatch held = new CountDownLatch(1);
            CountDownLatch waited = new CountDownLatch(1);
            FutureTask<Boolean> holder = inAnotherThread(() -> {
                try (LockHandle lock = locks.acquire(LockRequest.of(KEY))) {
                    held.countDown();
                    waited.await();
                    return lock.isHeld();
                }
            });
            held.await();

            assertThatThrownBy(() -> locks.acquire(LockRequest.of(KEY)))
                    .isInstanceOfSatisfying(
                            LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED));

            assertThat(Thread.interrupted()).isTrue();
            waited.countDown();
            assertThat(holder.get()).isTrue();
            assertNothingLeft(locks);
        });
    }

    @Test
    void an_interrupted_listener_does_not_end_an_election() {
        run(InterruptedException::new, application -> {
            LeaderMember member = join(application);
            await().until(member::isLeader);
            member.resign();
            await().until(member::isLeader);
        });
    }

    private static LeaderMember join(ApplicationContext application) {
        return application
                .getBean(LeaderElection.class)
                .join("scheduler", LeaderSettings.of(Duration.ofSeconds(3)).fenceRotation(Duration.ofMillis(100)));
    }

    /** The key is free, and the server has neither a lease nor a queue entry. */
    private static void assertNothingLeft(LockManager locks) {
        await().untilAsserted(() -> assertThat(database.jdbc()
                        .queryForList("SELECT key FROM syncguard_locks WHERE key = ?", String.class, KEY))
                .isEmpty());
        assertThat(locks.isLocked(KEY)).isFalse();
        assertThat(locks.admin().status(KEY).map(LockStatus::waiters).orElse(0)).isZero();
        LockHandle next = locks.tryAcquire(LockRequest.of(KEY));
        assertThat(next).isNotNull();
        next.release();
    }

    private static void run(Supplier<Throwable> what, Body body) {
        failure = what;
        CALLED.clear();
        ContextConsumer<ApplicationContext> consumer = body::run;
        Applications.on(database.url())
                .withPropertyValues("syncguard.shutdown-timeout=2s")
                .withBean(Orders.class)
                .withUserConfiguration(Listeners.class)
                .run(application -> {
                    consumer.accept(application);
                    assertThat(application
                                    .getBean(LockEngine.class)
                                    .diagnostics()
                                    .process()
                                    .held())
                            .isLessThanOrEqualTo(1);
                });
    }

    private interface Body {
        void run(ApplicationContext application) throws Throwable;
    }

    private static Supplier<Throwable> named(Supplier<Throwable> supplier) {
        return new Supplier<>() {
            @Override
            public Throwable get() {
                return supplier.get();
            }

            @Override
            public String toString() {
                return supplier.get().toString();
            }
        };
    }

    private static <T> FutureTask<T> inAnotherThread(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        new Thread(task, "another").start();
        return task;
    }

    static class Orders {

        @DistributedLock(name = "order", key = "#id")
        public String submit(String id) {
            return "submitted " + id;
        }

        @DistributedLock(name = "order", key = "#id")
        public CompletableFuture<String> submitLater(String id, CompletableFuture<String> result) {
            return result;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Listeners {

        @Bean
        FailingLockListener failingLocks() {
            return new FailingLockListener();
        }

        @Bean
        FailingLeaderListener failingLeaders() {
            return new FailingLeaderListener();
        }
    }

    /** Throws without a wrapper, as Kotlin does. */
    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void called(String method) throws E {
        CALLED.add(method);
        if (only == null || only.equals(method)) {
            throw (E) failure.get();
        }
    }

    private static final class FailingLockListener implements LockListener {

        @Override
        public void waitStarted(LockEvent event) {
            called("waitStarted");
        }

        @Override
        public void waitEnded(LockEvent event) {
            called("waitEnded");
        }

        @Override
        public void acquired(LockEvent event) {
            called("acquired");
        }

        @Override
        public void refused(LockEvent event) {
            called("refused");
        }

        @Override
        public void extended(LockEvent event) {
            called("extended");
        }

        @Override
        public void released(LockEvent event) {
            called("released");
        }

        @Override
        public void lost(LockEvent event) {
            called("lost");
        }

        @Override
        public void failed(LockEvent event, LockOperation operation, LockException error) {
            called("failed");
        }

        @Override
        public void forceReleased(ForcedRelease release, String reason) {
            called("forceReleased");
        }
    }

    private static final class FailingLeaderListener implements LeaderListener {

        @Override
        public void joined(LeaderMember member) {
            called("joined");
        }

        @Override
        public void elected(LeaderElectedEvent event) {
            called("elected");
        }

        @Override
        public void fenceRotated(LeaderFenceRotatedEvent event) {
            called("fenceRotated");
        }

        @Override
        public void revoked(LeaderRevokedEvent event) {
            called("revoked");
        }
    }
}
