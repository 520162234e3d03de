package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.concurrent.Alarm;
import io.syncguard.concurrent.Time;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.FailingLog;
import io.syncguard.testing.ScarceThreads;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * An Error, for lack of a thread for instance, ends one attempt. It stops no heartbeat, release or notification of a
 * loss.
 */
class ErrorTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42");

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;

    @Test
    void heartbeats_make_no_thread_and_a_hundred_losses_six_at_most() {
        AtomicInteger callbacks = new AtomicInteger();
        Set<Thread> before = threadsOfTheLibrary();
        locks.acquire(REQUEST);
        acquire(100, "lost", LockRequest::noHeartbeat).forEach(lock -> lock.onLost(callbacks::incrementAndGet));

        fixture.advanceSlowly(EngineFixture.TTL, Duration.ofSeconds(5));

        eventually().until(() -> callbacks.get() == 100 && count("lost") == 100);
        assertThat(fixture.events).contains("extended");
        Set<Thread> made = threadsOfTheLibrary();
        made.removeAll(before);
        assertThat(made)
                .hasSizeLessThanOrEqualTo(6)
                .extracting(Thread::getName)
                .allMatch(name -> name.startsWith("syncguard-lost-"));
    }

    @Test
    void an_error_in_reporting_a_loss_does_not_come_out_of_the_call_that_found_it() {
        try (FailingLog log = new FailingLog("Lost lock")) {
            AtomicInteger callbacks = new AtomicInteger();
            LockHandle lock = locks.acquire(REQUEST);
            lock.onLost(callbacks::incrementAndGet);
            fixture.store.expire("order:42");

            assertThat(lock.extend(EngineFixture.TTL)).isFalse();

            assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
            assertThat(log.failures()).isEqualTo(1);
            eventually().until(() -> callbacks.get() == 1 && count("lost") == 1);
        }
    }

    @Test
    void a_body_that_cannot_be_interrupted_does_not_keep_the_loss_from_listeners() throws Exception {
        AtomicInteger callbacks = new AtomicInteger();
        FutureTask<Boolean> body = new FutureTask<>(() -> {
            LockHandle lock = locks.acquire(REQUEST);
            lock.onLost(callbacks::incrementAndGet);
            fixture.store.expire("order:42");
            return lock.bind(() -> lock.extend(EngineFixture.TTL)).call();
        });
        Thread thread = new Thread(body, "cannot be interrupted") {
            @Override
            public void interrupt() {
                throw ScarceThreads.shortage();
            }
        };
        thread.setDaemon(true);
        thread.start();

        assertThat(EngineFixture.got(body)).isFalse();
        eventually().until(() -> callbacks.get() == 1 && count("lost") == 1);
    }

    @Test
    void an_error_in_reporting_a_loss_does_not_stop_the_heartbeat_of_the_others() {
        acquire(20, "kept", each -> each);
        acquire(20, "lost", each -> each).forEach(lock -> fixture.store.expire(lock.key()));
        try (FailingLog log = new FailingLog("Lost lock")) {
            fixture.time.advance(Duration.ofSeconds(10));

            eventually().until(() -> count("extended") == 20 && count("lost") == 20);
            assertThat(log.failures()).isEqualTo(20);
        }
    }

    @Test
    void nor_does_it_stop_the_watch_over_the_deadlines_of_the_others() {
        acquire(20, "lost", LockRequest::noHeartbeat);
        try (FailingLog log = new FailingLog("Lost lock")) {
            fixture.time.advance(EngineFixture.TTL);

            eventually().until(() -> count("lost") == 20);
            assertThat(log.failures()).isEqualTo(20);
        }
    }

    @Test
    void an_error_of_a_heartbeat_statement_is_a_failed_extension_of_its_locks_alone() {
        List<LockHandle> handles = acquire(DueRequests.CHUNK + 100, "k", each -> each);
        AtomicInteger statements = new AtomicInteger();
        fixture.backend.beforeExtend = () -> {
            if (statements.incrementAndGet() == 1) {
                throw ScarceThreads.shortage();
            }
        };

        fixture.time.advance(Duration.ofSeconds(10));
        eventually().until(() -> count("failed EXTEND INTERNAL") == DueRequests.CHUNK && count("extended") == 100);
        fixture.time.advance(Duration.ofMillis(2_500));

        // The leases of the second statement are extended along with them.
        eventually().until(() -> count("extended") >= 100 + DueRequests.CHUNK);
        assertThat(handles).allMatch(LockHandle::isHeld);
    }

    @Test
    void an_error_of_the_heartbeat_is_reported_as_any_other_failure() {
        try (CapturedLog log = new CapturedLog()) {
            LockHandle lock = locks.acquire(REQUEST);
            fixture.backend.beforeExtend = () -> {
                throw new IllegalStateException("as the test wants it");
            };

            fixture.time.advance(Duration.ofSeconds(10));

            eventually().until(() -> fixture.events.contains("failed EXTEND INTERNAL"));
            assertThat(lock.isHeld()).isTrue();
            assertThat(log.messages())
                    .singleElement()
                    .asString()
                    .startsWith("The heartbeat could not extend 1 lock(s)");
        }
    }

    @Test
    void a_release_that_ends_with_an_error_is_sent_again_in_the_background() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.beforeRelease = () -> {
            throw ScarceThreads.shortage();
        };

        assertThat(lock.release()).isTrue();
        assertThat(locks.isLocked("order:42")).isTrue();
        fixture.backend.beforeRelease = () -> {};

        untilFree();
        assertThat(lock.state()).isEqualTo(LockHandle.State.RELEASED);
        assertThat(fixture.events).containsExactly("acquired", "failed RELEASE INTERNAL", "released");
    }

    @Test
    void also_when_that_cannot_be_logged() {
        try (FailingLog log = new FailingLog("Lock 'order:42' could not be released")) {
            LockHandle lock = locks.acquire(REQUEST);
            fixture.backend.beforeRelease = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);

            assertThat(lock.release()).isTrue();
            fixture.backend.beforeRelease = () -> {};

            untilFree();
            assertThat(log.failures()).isEqualTo(1);
        }
    }

    @Test
    void an_error_in_the_background_is_one_more_failed_release() {
        ConcurrentLinkedQueue<Runnable> failures = new ConcurrentLinkedQueue<>(List.of(
                InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE),
                () -> {
                    throw ScarceThreads.shortage();
                },
                () -> {
                    throw new StackOverflowError("as the test wants it");
                }));
        fixture.backend.beforeRelease = () -> {
            Runnable failure = failures.poll();
            if (failure != null) {
                failure.run();
            }
        };
        try (CapturedLog log = new CapturedLog()) {
            assertThat(locks.acquire(REQUEST).release()).isTrue();

            untilFree();

            assertThat(failures).isEmpty();
            assertThat(log.messages())
                    .singleElement()
                    .asString()
                    .isEqualTo("Lock 'order:42' could not be released; trying again");
        }
    }

    @Test
    void a_body_that_ends_while_no_release_can_be_sent_returns_its_result() {
        fixture.backend.beforeRelease = () -> {
            throw ScarceThreads.shortage();
        };

        assertThat(new LockTemplate(locks).<String, RuntimeException>execute(REQUEST, lock -> "done"))
                .isEqualTo("done");

        fixture.backend.beforeRelease = () -> {};
        untilFree();
    }

    @Test
    void an_extension_by_hand_hands_its_error_on_and_leaves_the_lock_as_it_was() {
        LockHandle lock = locks.acquire(REQUEST);
        fixture.backend.beforeExtend = () -> {
            throw ScarceThreads.shortage();
        };

        assertThatThrownBy(() -> lock.extend(Duration.ofMinutes(1))).isInstanceOf(InternalError.class);

        assertThat(lock.remaining()).isEqualTo(EngineFixture.TTL);
    }

    @Test
    void a_thread_in_the_background_survives_an_error_that_cannot_be_logged() {
        try (FailingLog log = new FailingLog("short of memory failed")) {
            AtomicInteger runs = new AtomicInteger();
            Alarm alarm = new Alarm("short of memory", fixture.time, () -> {
                if (runs.incrementAndGet() == 1) {
                    throw ScarceThreads.shortage();
                }
                return Time.NEVER;
            });
            alarm.ringAt(0);
            eventually().until(() -> log.failures() == 1);

            eventually().until(() -> {
                fixture.time.advance(Duration.ofMillis(100));
                return runs.get() == 2;
            });
            alarm.close();
        }
    }

    @Test
    void a_loss_that_ends_a_body_is_thrown_although_it_could_not_be_logged() {
        try (FailingLog log = new FailingLog("Lost lock")) {
            assertThatThrownBy(() -> new LockTemplate(locks).executeWithoutResult(REQUEST, lock -> {
                        fixture.store.expire("order:42");
                        assertThat(lock.extend(EngineFixture.TTL)).isFalse();
                    }))
                    .isInstanceOf(LockLostException.class);
            assertThat(log.failures()).isEqualTo(1);
        }
    }

    private List<LockHandle> acquire(int number, String name, UnaryOperator<LockRequest> how) {
        return IntStream.range(0, number)
                .mapToObj(i -> locks.acquire(how.apply(LockRequest.of(name + i))))
                .toList();
    }

    private long count(String event) {
        return fixture.events.stream().filter(event::equals).count();
    }

    private static Set<Thread> threadsOfTheLibrary() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("syncguard-"))
                .collect(Collectors.toSet());
    }

    private void untilFree() {
        eventually().until(() -> {
            fixture.time.advance(Duration.ofMillis(100));
            return !locks.isLocked("order:42");
        });
    }
}
