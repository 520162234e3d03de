package io.syncguard.micrometer;

import static io.syncguard.core.EngineFixture.TTL;
import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static io.syncguard.core.InterceptedBackend.failing;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.OnLost;
import io.syncguard.core.AcquireObservation;
import io.syncguard.core.EngineFixture;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.Hashes;
import io.syncguard.testing.CapturedLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The observations of locks, with their parents and values. */
class LockObservationsTests {

    private static final String KEY = "order:42";
    private static final LockRequest ORDER = LockRequest.of(KEY).meterName("orders");

    /** Reports a misuse of the observations, too. */
    private final TestObservationRegistry registry = TestObservationRegistry.create();

    private final StoppedObservations stopped = new StoppedObservations();
    private EngineFixture fixture = new EngineFixture(new LockObservations(registry));
    private LockTemplate locks = new LockTemplate(fixture.engine);

    LockObservationsTests() {
        registry.observationConfig().observationHandler(stopped);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void a_lock_is_an_acquisition_then_a_hold_and_a_release_within_it() {
        Observation request = Observation.start("request", registry);
        request.scoped(() -> locks.execute(ORDER, lock -> lock));

        assertThat(stopped.names()).containsExactly("acquire", "release", "held");
        assertThat(stopped.parentOf("acquire")).isEqualTo("request");
        assertThat(stopped.parentOf("held")).isEqualTo("request");
        assertThat(stopped.parentOf("release")).isEqualTo("syncguard.lock.held");
        request.stop();
    }

    @Test
    void keys_that_travel_together_have_observations_of_their_own() {
        Observation request = Observation.start("request", registry);
        request.scoped(() -> {
            fixture.engine
                    .acquire(List.of(LockRequest.of("a"), LockRequest.of("b")))
                    .close();
            assertThat(registry.getCurrentObservation()).isSameAs(request);
        });

        assertThat(stopped.names())
                .containsExactlyInAnyOrder("acquire", "acquire", "release", "release", "held", "held");
        assertThat(stopped.parentOf("acquire")).isEqualTo("request");
        assertThat(stopped.parentOf("held")).isEqualTo("request");
        assertThat(stopped.parentOf("release")).isEqualTo("syncguard.lock.held");
        request.stop();
    }

    @Test
    void values_show_the_name_and_a_hash_of_the_key_and_never_the_key() {
        locks.execute(ORDER, lock -> lock.extend(TTL));

        Map<LockObservationDocumentation, String> outcomes = Map.of(
                LockObservationDocumentation.ACQUIRE, "acquired",
                LockObservationDocumentation.EXTEND, "extended",
                LockObservationDocumentation.RELEASE, "released",
                LockObservationDocumentation.HELD, "released");
        assertThat(stopped.names()).containsExactlyInAnyOrder("acquire", "extend", "release", "held");
        for (LockObservationContext context : stopped.contexts) {
            assertThat(context.getLowCardinalityKeyValues())
                    .containsExactlyInAnyOrder(
                            KeyValue.of("syncguard.lock.name", "orders"),
                            KeyValue.of("syncguard.lock.mode", "exclusive"),
                            KeyValue.of("syncguard.lock.backend", "memory"),
                            KeyValue.of("syncguard.lock.outcome", outcomes.get(context.observation())));
            assertThat(context.getHighCardinalityKeyValues())
                    .contains(KeyValue.of("syncguard.lock.key.hash", Hashes.abbreviated(KEY)));
            assertThat(context.getAllKeyValues().stream().map(KeyValue::getValue))
                    .noneMatch(value -> value.contains(KEY));
            assertThat(context.getContextualName())
                    .isEqualTo("lock " + context.observation().operation() + " orders");
        }
        assertThat(stopped.high("held", "syncguard.lock.fence")).isEqualTo("000000000000001");
        assertThat(stopped.high("acquire", "syncguard.lock.fence")).isNull();
    }

    @Test
    void every_observation_has_the_documented_keys() {
        AcquireRequest holder = fixture.holdElsewhere(KEY, TTL);
        FutureTask<LockHandle> waiter = fixture.startWaiting(ORDER);
        fixture.releaseElsewhere(holder);
        LockHandle lock = got(waiter);
        lock.extend(TTL);
        lock.release();

        assertThat(stopped.names()).containsExactlyInAnyOrder("wait", "acquire", "extend", "release", "held");
        for (LockObservationContext context : stopped.contexts) {
            assertThat(context.getLowCardinalityKeyValues().stream().map(KeyValue::getKey))
                    .containsExactlyInAnyOrderElementsOf(
                            keys(context.observation().getLowCardinalityKeyNames()));
            assertThat(keys(context.observation().getHighCardinalityKeyNames()))
                    .containsAll(context.getHighCardinalityKeyValues().stream()
                            .map(KeyValue::getKey)
                            .toList());
        }
    }

    @Test
    void a_wait_is_within_the_acquisition_and_both_name_the_holder() {
        AcquireRequest holder = fixture.holdElsewhere(KEY, TTL);
        FutureTask<LockHandle> waiter = fixture.startWaiting(ORDER);
        assertThat(stopped.names()).isEmpty();

        fixture.releaseElsewhere(holder);
        got(waiter).release();

        assertThat(stopped.names()).startsWith("wait", "acquire");
        assertThat(stopped.parentOf("wait")).isEqualTo("syncguard.lock.acquire");
        assertThat(stopped.high("wait", "syncguard.lock.holder.owner")).isEqualTo("elsewhere");
        assertThat(stopped.high("acquire", "syncguard.lock.holder.owner")).isEqualTo("elsewhere");
        assertThat(stopped.low("wait", "syncguard.lock.outcome")).isEqualTo("acquired");
        assertThat(stopped.low("acquire", "syncguard.lock.outcome")).isEqualTo("acquired");
    }

    @Test
    void a_refusal_names_the_holder_and_is_no_error() {
        fixture.holdElsewhere(KEY, TTL);

        assertThat(fixture.engine.tryAcquire(ORDER)).isNull();

        assertThat(stopped.names()).containsExactly("acquire");
        assertThat(stopped.low("acquire", "syncguard.lock.outcome")).isEqualTo("refused");
        assertThat(stopped.high("acquire", "syncguard.lock.holder.owner")).isEqualTo("elsewhere");
        assertThat(stopped.of("acquire").getError()).isNull();
    }

    @Test
    void a_wait_that_ends_without_a_grant_is_refused() {
        fixture.holdElsewhere(KEY, TTL.multipliedBy(10));
        FutureTask<LockHandle> waiter = fixture.startWaiting(ORDER.waitTime(Duration.ofSeconds(1)));

        fixture.time.advance(Duration.ofSeconds(1));

        assertThatThrownBy(() -> EngineFixture.got(waiter)).hasCauseInstanceOf(LockNotAcquiredException.class);
        assertThat(stopped.names()).containsExactly("wait", "acquire");
        assertThat(stopped.low("wait", "syncguard.lock.outcome")).isEqualTo("refused");
        assertThat(stopped.low("acquire", "syncguard.lock.outcome")).isEqualTo("refused");
        assertThat(stopped.high("acquire", "error.type")).isNull();
    }

    @Test
    void an_acquisition_that_fails_has_the_error_and_its_code() {
        fixture.backend.beforeAcquire = failing(LockErrorCode.AUTH_FAILED);

        assertThatThrownBy(() -> fixture.engine.acquire(ORDER)).isInstanceOf(LockException.class);

        assertThat(stopped.names()).containsExactly("acquire");
        assertThat(stopped.low("acquire", "syncguard.lock.outcome")).isEqualTo("failed");
        assertThat(stopped.high("acquire", "error.type")).isEqualTo("auth_failed");
        assertThat(stopped.of("acquire").getError()).isInstanceOf(LockException.class);
    }

    @Test
    void a_wait_that_is_interrupted_has_failed() {
        fixture.holdElsewhere(KEY, TTL.multipliedBy(10));
        List<Thread> threads = new ArrayList<>();
        FutureTask<LockHandle> waiter = inAnotherThread(() -> {
            threads.add(Thread.currentThread());
            return fixture.engine.acquire(ORDER);
        });
        eventually().until(() -> !fixture.store.queue(KEY).isEmpty());

        threads.get(0).interrupt();

        eventually().until(waiter::isDone);
        eventually().until(() -> stopped.names().equals(List.of("wait", "acquire")));
        assertThat(stopped.high("wait", "error.type")).isEqualTo("aborted");
        assertThat(stopped.high("acquire", "error.type")).isEqualTo("aborted");
    }

    @Test
    void what_a_body_observes_is_within_the_lock_and_nothing_is_left_behind() {
        locks.execute(ORDER, lock -> {
            Observation.createNotStarted("work", registry).observe(() -> {});
            return lock;
        });

        assertThat(stopped.parents.get("work")).isEqualTo("syncguard.lock.held");
        assertThat(registry.getCurrentObservation()).isNull();
    }

    @Test
    void a_body_on_another_thread_is_within_the_lock() {
        try (LockHandle lock = fixture.engine.acquire(ORDER)) {
            got(inAnotherThread(lock.bind(() -> {
                Observation.createNotStarted("work", registry).observe(() -> {});
                return lock;
            })));
        }

        assertThat(stopped.parents.get("work")).isEqualTo("syncguard.lock.held");
    }

    @Test
    void a_nested_request_has_no_observations_and_leaves_the_parents_of_others() {
        locks.execute(ORDER, outer -> {
            Observation.createNotStarted("service", registry)
                    .observe(() -> locks.execute(ORDER, inner -> {
                        Observation.createNotStarted("work", registry).observe(() -> {});
                        return inner;
                    }));
            return outer;
        });

        assertThat(stopped.names()).containsExactly("acquire", "release", "held");
        assertThat(stopped.parents.get("work")).isEqualTo("service");
    }

    @Test
    void an_exception_of_a_body_marks_the_lock_that_is_released() {
        assertThatThrownBy(() -> locks.execute(ORDER, lock -> {
                    throw new IllegalStateException("out of stock");
                }))
                .hasMessage("out of stock");

        assertThat(stopped.of("held").getError()).hasMessage("out of stock");
        assertThat(stopped.low("held", "syncguard.lock.outcome")).isEqualTo("released");
        assertThat(stopped.high("held", "error.type")).isEqualTo("java.lang.IllegalStateException");
    }

    @Test
    void a_lock_that_is_lost_is_marked_and_observed_to_the_end_of_its_body() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch unblocked = new CountDownLatch(1);
        FutureTask<LockHandle> body =
                inAnotherThread(() -> locks.execute(ORDER.noHeartbeat().onLost(OnLost.NOTIFY), lock -> {
                    running.countDown();
                    unblocked.await();
                    return lock;
                }));
        running.await();
        eventually().until(() -> fixture.events.contains("acquired"));

        fixture.time.advance(TTL);

        eventually().until(() -> fixture.events.contains("lost") && stopped.events.contains("syncguard.lock.lost"));
        assertThat(stopped.names()).containsExactly("acquire");
        unblocked.countDown();
        assertThatThrownBy(() -> EngineFixture.got(body)).hasCauseInstanceOf(LockLostException.class);
        eventually().until(() -> stopped.names().contains("held"));
        assertThat(stopped.low("held", "syncguard.lock.outcome")).isEqualTo("lost");
        assertThat(stopped.high("held", "error.type")).isEqualTo("lost");
        assertThat(stopped.of("held").getError()).isInstanceOf(LockLostException.class);
    }

    @Test
    void a_lock_without_a_body_ends_when_it_is_lost() {
        fixture.engine.acquire(ORDER.noHeartbeat());

        fixture.time.advance(TTL);

        eventually().until(() -> stopped.names().equals(List.of("acquire", "held")));
        assertThat(stopped.low("held", "syncguard.lock.outcome")).isEqualTo("lost");
    }

    @Test
    void a_release_that_finds_the_lock_lost_says_so() {
        LockHandle lock = fixture.engine.acquire(ORDER);
        fixture.store.expire(KEY);

        assertThat(lock.release()).isFalse();

        assertThat(stopped.low("release", "syncguard.lock.outcome")).isEqualTo("lost");
        eventually().until(() -> stopped.names().contains("held"));
        assertThat(stopped.low("held", "syncguard.lock.outcome")).isEqualTo("lost");
    }

    @Test
    void a_failed_extension_of_the_heartbeat_is_within_the_lock_and_not_within_what_runs_under_it() {
        fixture.backend.beforeExtend = failing(LockErrorCode.NETWORK_TIMEOUT);
        Observation request = Observation.start("request", registry);
        request.scoped(() -> locks.execute(ORDER, lock -> {
            fixture.time.advance(TTL.dividedBy(3));
            eventually().until(() -> stopped.names().contains("extend"));
            return lock;
        }));
        request.stop();

        assertThat(stopped.parentOf("extend")).isEqualTo("syncguard.lock.held");
        assertThat(stopped.threads.get(stopped.of("extend"))).isEqualTo("syncguard-events");
    }

    /** A job of eight hours has thousands of them. */
    @Test
    void heartbeats_that_succeed_are_not_observed() {
        LockHandle lock = fixture.engine.acquire(ORDER);

        fixture.advanceSlowly(TTL.multipliedBy(10), TTL.dividedBy(6));
        eventually().until(() -> fixture.events.contains("extended"));

        lock.release();
        assertThat(stopped.names()).containsExactly("acquire", "release", "held");
    }

    /** A member waits and leads for days. What it does as the leader stays in the traces of its callers. */
    @Test
    void elections_are_not_observed_and_what_runs_under_a_term_stays_within_its_caller() {
        LockRequest term = LockRequest.of("leader:scheduler").meterName("leader:scheduler");
        try (LockHandle lock = fixture.engine.acquire(term)) {
            Observation request = Observation.start("request", registry);
            request.scoped(() -> lock.bind(
                            () -> Observation.createNotStarted("work", registry).observe(() -> {}))
                    .run());
            request.stop();
            fixture.backend.beforeExtend = failing(LockErrorCode.NETWORK_TIMEOUT);
            fixture.time.advance(TTL.dividedBy(3));
            eventually().until(() -> fixture.events.contains("failed EXTEND NETWORK_TIMEOUT"));
        }

        assertThat(stopped.parents.get("work")).isEqualTo("request");
        assertThat(stopped.names()).isEmpty();
    }

    @Test
    void without_a_caller_the_lock_is_within_its_acquisition() {
        locks.execute(ORDER, lock -> lock);

        assertThat(stopped.parentOf("acquire")).isEqualTo("none");
        assertThat(stopped.parentOf("held")).isEqualTo("syncguard.lock.acquire");
        assertThat(stopped.parentOf("release")).isEqualTo("syncguard.lock.held");
    }

    @Test
    void without_a_caller_each_of_several_keys_is_within_its_own_acquisition() {
        fixture.engine
                .acquire(List.of(LockRequest.of("a"), LockRequest.of("b")))
                .close();

        assertThat(stopped.contexts.stream()
                        .filter(each -> each.observation() == LockObservationDocumentation.HELD)
                        .map(each -> ((LockObservationContext)
                                                each.getParentObservation().getContextView())
                                        .request()
                                        .key()
                                + each.request().key()))
                .containsExactlyInAnyOrder("aa", "bb");
    }

    @Test
    void an_extension_of_the_heartbeat_that_fails_has_the_error() {
        LockHandle lock = fixture.engine.acquire(ORDER);
        fixture.backend.beforeExtend = failing(LockErrorCode.NETWORK_TIMEOUT);

        fixture.time.advance(TTL.dividedBy(3));

        eventually().until(() -> stopped.names().contains("extend"));
        assertThat(stopped.low("extend", "syncguard.lock.outcome")).isEqualTo("failed");
        assertThat(stopped.high("extend", "error.type")).isEqualTo("network_timeout");
        assertThat(lock.isHeld()).isTrue();
    }

    @Test
    void an_extension_of_a_locked_row_is_busy() {
        fixture.engine.acquire(ORDER);
        fixture.backend.rowsArePinned = true;

        fixture.time.advance(TTL.dividedBy(3));

        eventually().until(() -> stopped.names().contains("extend"));
        assertThat(stopped.low("extend", "syncguard.lock.outcome")).isEqualTo("busy");
        assertThat(stopped.high("extend", "error.type")).isNull();
    }

    @Test
    void an_extension_by_hand_that_fails_has_the_error() {
        LockHandle lock = fixture.engine.acquire(ORDER);
        fixture.backend.beforeExtend = failing(LockErrorCode.RATE_LIMITED);

        assertThatThrownBy(() -> lock.extend(TTL)).isInstanceOf(LockException.class);

        assertThat(stopped.high("extend", "error.type")).isEqualTo("rate_limited");
        assertThat(stopped.parentOf("extend")).isEqualTo("syncguard.lock.held");
    }

    @Test
    void a_release_that_fails_has_the_error_and_the_lock_is_released() {
        LockHandle lock = fixture.engine.acquire(ORDER);
        fixture.backend.beforeRelease = failing(LockErrorCode.SERVICE_UNAVAILABLE);

        lock.release();

        assertThat(stopped.high("release", "error.type")).isEqualTo("service_unavailable");
        assertThat(stopped.low("held", "syncguard.lock.outcome")).isEqualTo("released");
        assertThat(stopped.of("held").getError()).isNull();
    }

    @Test
    void a_handler_that_throws_changes_nothing() {
        try (CapturedLog log = new CapturedLog()) {
            registry.observationConfig().observationHandler(new ThrowingHandler());

            assertThat(locks.<String, RuntimeException>execute(ORDER, lock -> "done"))
                    .isEqualTo("done");

            assertThat(fixture.store.queue(KEY)).isEmpty();
            assertThat(fixture.engine.isLocked(KEY)).isFalse();
            assertThat(log.messages()).contains("A lock observation failed, which changes nothing for the lock");
        }
    }

    @Test
    void a_handler_that_blocks_in_extensions_does_not_delay_the_heartbeat() {
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch unblocked = new CountDownLatch(1);
        registry.observationConfig().observationHandler(new BlockingHandler(blocked, unblocked));
        LockHandle lock = fixture.engine.acquire(ORDER);
        fixture.backend.rowsArePinned = true;
        fixture.time.advance(TTL.dividedBy(3));
        eventually().until(() -> blocked.getCount() == 0);
        fixture.backend.rowsArePinned = false;

        fixture.advanceSlowly(TTL.multipliedBy(2), TTL.dividedBy(6));

        assertThat(lock.isHeld()).isTrue();
        unblocked.countDown();
    }

    @Test
    void a_convention_of_the_application_sets_the_values() {
        fixture.close();
        fixture = new EngineFixture(new LockObservations(registry, () -> new LockObservationConvention() {
            @Override
            public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
                return KeyValues.of("lock", context.name());
            }

            @Override
            public String getContextualName(LockObservationContext context) {
                return context.request().key();
            }
        }));

        fixture.engine.acquire(ORDER).release();

        assertThat(stopped.names()).containsExactly("acquire", "release", "held");
        assertThat(stopped.of("held").getAllKeyValues()).containsExactly(KeyValue.of("lock", "orders"));
        assertThat(stopped.of("held").getContextualName()).isEqualTo(KEY);
    }

    @Test
    void predicates_see_the_names() {
        registry.observationConfig().observationPredicate((name, context) -> !name.startsWith("syncguard.lock.h"));

        locks.execute(ORDER, lock -> lock);

        assertThat(stopped.names()).containsExactly("acquire", "release");
    }

    @Test
    void a_registry_without_handlers_costs_nothing() {
        for (ObservationRegistry none : List.of(ObservationRegistry.NOOP, ObservationRegistry.create())) {
            LockObservations observations = new LockObservations(none);

            assertThat(observations.acquire("memory", ORDER)).isSameAs(AcquireObservation.NONE);
        }
    }

    @Test
    void names_that_come_from_data_are_limited_and_the_meters_warn_of_them() {
        try (CapturedLog log = new CapturedLog()) {
            IntStream.rangeClosed(1, 501)
                    .forEach(n ->
                            fixture.engine.acquire(ORDER.meterName("name " + n)).release());

            assertThat(log.messages()).isEmpty();
        }
        assertThat(stopped.contexts.get(0).name()).isEqualTo("name 1");
        assertThat(stopped.contexts.get(stopped.contexts.size() - 1).name()).isEqualTo("other");
    }

    private static List<String> keys(KeyName[] names) {
        return Stream.of(names).map(KeyName::asString).toList();
    }

    private static <T> T got(FutureTask<T> task) {
        try {
            return EngineFixture.got(task);
        } catch (Exception ex) {
            throw new AssertionError(ex);
        }
    }

    /** Throws whatever happens. */
    private static final class ThrowingHandler implements ObservationHandler<LockObservationContext> {

        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }

        @Override
        public void onStart(LockObservationContext context) {
            throw new AssertionError("as the test wants it");
        }

        @Override
        public void onScopeOpened(LockObservationContext context) {
            throw new AssertionError("as the test wants it");
        }

        @Override
        public void onStop(LockObservationContext context) {
            throw new AssertionError("as the test wants it");
        }
    }

    /** Blocks in extensions until the test wants it to go on. */
    private record BlockingHandler(CountDownLatch blocked, CountDownLatch unblocked)
            implements ObservationHandler<LockObservationContext> {

        @Override
        public boolean supportsContext(Observation.Context context) {
            return context instanceof LockObservationContext lock
                    && lock.observation() == LockObservationDocumentation.EXTEND;
        }

        @Override
        public void onStart(LockObservationContext context) {
            blocked.countDown();
            try {
                unblocked.await();
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
