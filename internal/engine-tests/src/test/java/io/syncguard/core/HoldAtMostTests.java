package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockErrorCode;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockLostException;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.testing.CapturedLog;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A lock that is not held longer than its request says, although its body runs and heartbeats succeed. */
class HoldAtMostTests {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    private static final LockRequest REQUEST = LockRequest.of("order:42").holdAtMost(LIMIT);

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;

    @Test
    void it_is_held_until_then_and_lost_after() {
        LockHandle lock = locks.acquire(REQUEST);
        advanceBy(LIMIT.minusSeconds(5));
        assertThat(lock.isHeld()).isTrue();
        assertThat(lock.remaining()).isEqualTo(Duration.ofSeconds(5));

        fixture.time.advance(Duration.ofSeconds(5));
        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
        eventually().until(() -> fixture.events.contains("lost"));
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
    }

    @Test
    void listeners_and_the_log_have_the_reason() {
        List<LockReason> reasons = new CopyOnWriteArrayList<>();
        try (CapturedLog log = new CapturedLog();
                EngineFixture listening = new EngineFixture(new LockListener() {
                    @Override
                    public void lost(LockEvent event) {
                        reasons.add(event.reason());
                    }
                })) {
            LockHandle lock = listening.engine.acquire(REQUEST.ttl(LIMIT.multipliedBy(2)));
            listening.time.advance(LIMIT);

            assertThat(lock.isHeld()).isFalse();
            eventually().until(() -> !reasons.isEmpty());
            assertThat(reasons).containsExactly(LockReason.HOLD_AT_MOST);
            assertThat(log.messages())
                    .containsExactly("Lost lock 'order:42' after 120000 ms: it was held for 2m, the longest time of its"
                            + " request");
        }
    }

    @Test
    void the_heartbeat_stops_and_the_key_is_free_when_the_last_lease_has_lapsed() {
        LockHandle lock = locks.acquire(REQUEST);
        advanceBy(LIMIT);
        assertThat(lock.isHeld()).isFalse();

        advanceBy(Duration.ofSeconds(35));
        assertThat(locks.isLocked("order:42")).isFalse();
    }

    @Test
    void neither_an_extension_by_hand_nor_a_nested_request_prolongs_it() {
        LockHandle lock = locks.acquire(REQUEST);
        assertThat(lock.extend(Duration.ofHours(1))).isTrue();
        assertThat(lock.remaining()).isEqualTo(LIMIT);

        advanceBy(LIMIT);
        assertThat(lock.isHeld()).isFalse();
        assertThat(lock.extend(Duration.ofHours(1))).isFalse();
    }

    @Test
    void a_body_that_hangs_is_interrupted() throws Exception {
        FutureTask<Void> body = inAnotherThread(() -> {
            new LockTemplate(locks)
                    .executeWithoutResult(REQUEST, lock -> new CountDownLatch(1).await(1, TimeUnit.HOURS));
            return null;
        });
        eventually().until(() -> fixture.events.contains("acquired"));

        advanceBy(LIMIT);

        assertThatThrownBy(() -> body.get(10, TimeUnit.SECONDS)).hasCauseInstanceOf(LockLostException.class);
        eventually().until(() -> !locks.isLocked("order:42"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT-1S", "P366D", "PT4S"})
    void a_limit_out_of_range_or_below_the_time_to_hold_at_least_is_refused(Duration limit) {
        LockRequest request = LockRequest.of("order:42").holdAtLeast(Duration.ofSeconds(5));
        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> request.holdAtMost(limit))
                .withMessageContaining("at most")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
    }

    private void advanceBy(Duration time) {
        fixture.advanceSlowly(time, Duration.ofSeconds(5));
    }
}
