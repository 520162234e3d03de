package io.syncguard.core;

import static io.syncguard.core.EngineFixture.TTL;
import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.InterceptedBackend.failing;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockLostException;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockOperation;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.testing.CapturedLog;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What listeners receive, with which reasons, and that a listener cannot damage a lock. */
class ListenerTests {

    private static final String KEY = "order:42";

    /** The events with their reasons, such as {@code lost EXPIRED}. */
    private final List<String> events = new CopyOnWriteArrayList<>();

    /** Opened by the test for listeners that block. */
    private final CountDownLatch unblocked = new CountDownLatch(1);

    private final CapturedLog log = new CapturedLog();

    private EngineFixture fixture = new EngineFixture(recordingListener());

    @AfterEach
    void close() {
        unblocked.countDown();
        fixture.close();
        log.close();
    }

    @Test
    void a_refusal_says_that_the_key_is_locked() {
        fixture.holdElsewhere(KEY, TTL);

        assertThat(fixture.engine.tryAcquire(LockRequest.of(KEY))).isNull();

        assertThat(events).containsExactly("refused LOCKED");
    }

    @Test
    void a_listener_of_a_refusal_does_not_make_the_wait_longer() {
        fixture.close();
        fixture = new EngineFixture(listener((name, arguments) -> {
            if (name.equals("refused")) {
                fixture.time.advance(Duration.ofSeconds(1));
            }
        }));
        fixture.holdElsewhere(KEY, TTL);

        assertThatThrownBy(() -> fixture.engine.acquire(LockRequest.of(KEY).waitTime(Duration.ZERO)))
                .isInstanceOfSatisfying(
                        LockNotAcquiredException.class,
                        refusal -> assertThat(refusal.waited()).isZero());
    }

    @Test
    void a_grant_an_extension_and_a_release_need_no_reason() {
        try (LockHandle lock = fixture.engine.acquire(LockRequest.of(KEY))) {
            lock.extend(TTL);
        }

        assertThat(events).containsExactly("acquired null", "extended null", "released null");
    }

    @Test
    void a_fence_that_is_taken_is_an_extension() {
        try (LockHandle lock = fixture.engine.acquire(LockRequest.of(KEY))) {
            lock.rotateFence();
        }

        assertThat(events).containsExactly("acquired null", "extended null", "released null");
    }

    @Test
    void a_lock_that_is_lost_at_its_deadline_has_expired() {
        LockHandle lock = fixture.engine.acquire(LockRequest.of(KEY).noHeartbeat());

        fixture.time.advance(TTL);

        assertThat(lock.isHeld()).isFalse();
        eventually().until(() -> events.contains("lost EXPIRED"));
    }

    @Test
    void a_lock_whose_lease_had_lapsed_at_the_server_has_expired() {
        LockHandle lock = fixture.engine.acquire(LockRequest.of(KEY));
        fixture.store.expire(KEY);

        fixture.time.advance(TTL.dividedBy(3));

        eventually().until(() -> events.contains("lost EXPIRED"));
        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
    }

    @Test
    void a_lock_that_the_server_does_not_know_was_not_found() {
        LockHandle lock = fixture.engine.acquire(LockRequest.of(KEY));
        new StoreCalls(new InMemoryLockBackend(fixture.store)).release(lock.lockId());

        fixture.time.advance(TTL.dividedBy(3));

        eventually().until(() -> events.contains("lost NOT_FOUND"));
        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
    }

    @Test
    void a_release_that_comes_too_late_says_that_the_lock_had_expired_and_throws() {
        LockHandle lock = fixture.engine.acquire(LockRequest.of(KEY));
        fixture.store.expire(KEY);

        assertThatThrownBy(lock::close).isInstanceOf(LockLostException.class);

        eventually().until(() -> events.equals(List.of("acquired null", "lost EXPIRED")));
    }

    @Test
    void a_release_that_meets_the_next_holder_says_that_the_lock_was_not_found_and_throws() {
        LockHandle lock = fixture.engine.acquire(LockRequest.of(KEY));
        fixture.store.expire(KEY);
        fixture.holdElsewhere(KEY, TTL);

        assertThatThrownBy(lock::close).isInstanceOf(LockLostException.class);

        eventually().until(() -> events.equals(List.of("acquired null", "lost NOT_FOUND")));
    }

    @Test
    void a_lock_that_is_taken_away_at_the_shutdown_says_so() {
        fixture.engine.acquire(LockRequest.of(KEY));

        fixture.close();

        eventually().until(() -> events.contains("lost SHUTDOWN"));
    }

    @Test
    void an_acquire_that_throws_is_reported_with_its_error() {
        fixture.backend.beforeAcquire = failing(LockErrorCode.AUTH_FAILED);

        assertThatThrownBy(() -> fixture.engine.acquire(LockRequest.of(KEY))).isInstanceOf(LockBackendException.class);

        assertThat(events).containsExactly("failed null ACQUIRE AUTH_FAILED");
    }

    @Test
    void an_acquire_that_throws_because_its_grant_came_too_late_says_that_it_had_expired() {
        fixture.backend.afterAcquire = () -> fixture.time.advance(TTL);

        assertThatThrownBy(() -> fixture.engine.acquire(LockRequest.of(KEY))).isInstanceOf(LockLostException.class);

        assertThat(events).containsExactly("failed EXPIRED ACQUIRE LOST");
    }

    @Test
    void an_extension_by_hand_and_one_of_the_heartbeat_that_fail_are_reported_with_their_error() {
        LockHandle lock = fixture.engine.acquire(LockRequest.of(KEY));
        fixture.backend.beforeExtend = failing(LockErrorCode.NETWORK_TIMEOUT);

        assertThatThrownBy(() -> lock.extend(TTL)).isInstanceOf(LockBackendException.class);
        assertThat(events).containsExactly("acquired null", "failed null EXTEND NETWORK_TIMEOUT");

        fixture.time.advance(TTL.dividedBy(3));
        eventually().until(() -> events.size() == 3);
        assertThat(events.get(2)).isEqualTo("failed null EXTEND NETWORK_TIMEOUT");
    }

    @Test
    void a_release_that_fails_is_reported_with_its_error_and_ends_the_lock() {
        LockHandle lock = fixture.engine.acquire(LockRequest.of(KEY));
        fixture.backend.beforeRelease = failing(LockErrorCode.SERVICE_UNAVAILABLE);

        assertThat(lock.release()).isTrue();

        assertThat(events).containsExactly("acquired null", "failed null RELEASE SERVICE_UNAVAILABLE", "released null");
    }

    @Test
    void a_listener_that_throws_in_every_method_changes_nothing() {
        fixture.close();
        fixture = new EngineFixture(listener((event, arguments) -> {
            throw new AssertionError("as the test wants it");
        }));
        AtomicInteger callbacks = new AtomicInteger();

        String result = new LockTemplate(fixture.engine).execute(KEY, lock -> "done");
        LockHandle lost = fixture.engine.acquire(LockRequest.of(KEY));
        lost.onLost(callbacks::incrementAndGet);
        fixture.time.advance(TTL.dividedBy(3));
        eventually().until(() -> fixture.events.contains("extended"));
        assertThat(lost.isHeld()).isTrue();
        fixture.time.advance(TTL);

        assertThat(result).isEqualTo("done");
        eventually().until(() -> callbacks.get() == 1);
        eventually().until(() -> fixture.events.contains("lost"));
        assertThat(log.messages()).anyMatch(message -> message.startsWith("A lock listener failed"));
    }

    @Test
    void a_listener_that_blocks_in_extensions_delays_neither_the_heartbeat_nor_the_report_of_a_loss() {
        blockIn("extended");
        LockHandle lock = fixture.engine.acquire(LockRequest.of(KEY));
        LockHandle lost = fixture.engine.acquire(LockRequest.of("lost").noHeartbeat());

        fixture.advanceSlowly(TTL.multipliedBy(2), TTL.dividedBy(6));

        assertThat(lock.isHeld()).isTrue();
        assertThat(lost.isHeld()).isFalse();
        eventually().until(() -> fixture.events.contains("lost"));
    }

    @Test
    void a_listener_that_blocks_in_losses_holds_up_no_callback_of_a_lost_lock() {
        blockIn("lost");
        AtomicInteger callbacks = new AtomicInteger();
        for (int i = 0; i < 40; i++) {
            fixture.engine.acquire(LockRequest.of("k" + i).noHeartbeat()).onLost(callbacks::incrementAndGet);
        }

        fixture.time.advance(TTL);

        eventually().until(() -> callbacks.get() == 40);
    }

    @Test
    void events_of_the_heartbeat_that_a_listener_does_not_take_are_left_out_with_a_warning() {
        blockIn("extended");
        LockHandle lock = fixture.engine.acquire(LockRequest.of(KEY));

        for (int tick = 1; tick <= ListenerDispatcher.MAX_PENDING + 2; tick++) {
            int ticks = tick;
            fixture.time.advance(TTL.dividedBy(3));
            eventually().until(() -> fixture.backend.extendStatements.get() == ticks);
        }

        assertThat(lock.isHeld()).isTrue();
        eventually().until(() -> log.messages().size() == 1);
        assertThat(log.messages().get(0)).startsWith("Lock listeners are too slow");
    }

    /** Adds a listener, called before that of the fixture, that blocks in the method of this name. */
    private void blockIn(String method) {
        fixture.close();
        fixture = new EngineFixture(listener((name, arguments) -> {
            if (name.equals(method)) {
                unblocked.await();
            }
        }));
    }

    private LockListener recordingListener() {
        return listener((name, arguments) -> {
            LockReason reason = ((LockEvent) arguments[0]).reason();
            events.add(
                    arguments.length == 1
                            ? name + " " + reason
                            : name + " " + reason + " " + (LockOperation) arguments[1] + " "
                                    + ((LockException) arguments[2]).code());
        });
    }

    /** A listener all of whose methods call the handler. */
    private static LockListener listener(EventHandler handler) {
        return (LockListener) Proxy.newProxyInstance(
                LockListener.class.getClassLoader(),
                new Class<?>[] {LockListener.class},
                (proxy, method, arguments) -> {
                    if (method.getDeclaringClass() == Object.class) {
                        return "a listener of the test";
                    }
                    handler.handle(method.getName(), arguments);
                    return null;
                });
    }

    @FunctionalInterface
    private interface EventHandler {
        void handle(String method, Object[] arguments) throws Exception;
    }
}
