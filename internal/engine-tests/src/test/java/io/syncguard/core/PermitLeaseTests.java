package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockEvent;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockLostException;
import io.syncguard.LockMode;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A permit is a lease: what keeps, ends or shows one lock does so with one permit, and leaves the others alone. */
@Timeout(60)
class PermitLeaseTests {

    private static final LockRequest PERMIT = LockRequest.of("partner", "42").permits(2);

    private final List<LockEvent> events = new CopyOnWriteArrayList<>();

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture(new Events());

    private final LockEngine locks = fixture.engine;

    @Test
    void heartbeats_keep_each_permit_beyond_its_ttl() {
        List<LockHandle> permits =
                IntStream.range(0, 2).mapToObj(i -> locks.acquire(PERMIT)).toList();

        fixture.advanceSlowly(EngineFixture.TTL.multipliedBy(3), Duration.ofSeconds(5));

        assertThat(permits).allMatch(LockHandle::isHeld);
        assertThat(locks.tryAcquire(PERMIT)).isNull();
    }

    /** How a permit is lost. */
    enum Loss {
        LEASE(LockReason.NOT_FOUND),
        TTL(LockReason.EXPIRED),
        HOLD_AT_MOST(LockReason.HOLD_AT_MOST);

        private final LockReason reason;

        Loss(LockReason reason) {
            this.reason = reason;
        }

        LockRequest of(LockRequest request) {
            return switch (this) {
                case LEASE -> request;
                case TTL -> request.noHeartbeat();
                case HOLD_AT_MOST -> request.holdAtMost(Duration.ofSeconds(20));
            };
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_permit_that_is_lost_interrupts_its_body_calls_back_and_leaves_the_other(Loss loss) throws Exception {
        LockHandle other = locks.acquire(PERMIT);
        List<String> seen = new CopyOnWriteArrayList<>();
        List<LockHandle> lost = new CopyOnWriteArrayList<>();
        FutureTask<Void> body = inAnotherThread(() -> {
            new LockTemplate(locks).executeWithoutResult(loss.of(PERMIT), lock -> {
                lock.onLost(() -> seen.add("called back"));
                lost.add(lock);
                try {
                    new CountDownLatch(1).await(10, TimeUnit.SECONDS);
                } catch (InterruptedException ex) {
                    seen.add("interrupted");
                }
            });
            return null;
        });
        eventually().until(() -> !lost.isEmpty());
        if (loss == Loss.LEASE) {
            fixture.store.revoke("partner:42", lost.get(0).fence());
        }

        fixture.advanceSlowly(EngineFixture.TTL.plusSeconds(1), Duration.ofSeconds(5));

        eventually().until(body::isDone);
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(body::get)
                .withCauseInstanceOf(LockLostException.class);
        eventually().until(() -> seen.size() == 2);
        assertThat(seen).containsExactlyInAnyOrder("called back", "interrupted");
        eventually().until(() -> events.stream().anyMatch(event -> event.reason() == loss.reason));
        assertThat(other.isHeld()).isTrue();
    }

    @Test
    void a_release_by_force_ends_all_permits_and_all_holders_learn_of_it() {
        List<LockHandle> permits =
                IntStream.range(0, 2).mapToObj(i -> locks.acquire(PERMIT)).toList();

        assertThat(locks.admin().forceRelease("partner:42", "it hangs").released())
                .hasSize(2);

        eventually().until(() -> permits.stream().noneMatch(LockHandle::isHeld));
        assertThat(locks.isLocked("partner:42")).isFalse();
    }

    @Test
    void a_permit_that_is_held_at_least_for_a_time_stays_in_use_until_then() {
        locks.acquire(PERMIT);
        locks.acquire(PERMIT.holdAtLeast(Duration.ofMinutes(1))).release();

        assertThat(locks.tryAcquire(PERMIT)).isNull();
        fixture.advanceSlowly(Duration.ofMinutes(1), Duration.ofSeconds(5));
        assertThat(locks.tryAcquire(PERMIT)).isNotNull();
    }

    @Test
    void its_events_say_of_how_many_permits_it_is_one() throws Exception {
        LockHandle first = locks.acquire(PERMIT.permits(1));
        FutureTask<LockHandle> waiter = fixture.startWaiting(PERMIT.permits(1).waitTime(Duration.ofHours(1)));
        first.release();
        EngineFixture.got(waiter).release();
        locks.acquire(PERMIT.shared().permits(7)).release();
        locks.acquire(LockRequest.of("partner", "42")).release();

        eventually().until(() -> events.size() == 10);
        assertThat(events.subList(0, 6)).allMatch(event -> event.permits() == 1 && event.mode() == LockMode.SHARED);
        assertThat(events.subList(6, 8)).allMatch(event -> event.permits() == 7);
        assertThat(events.subList(8, 10)).allMatch(event -> event.permits() == 0);
    }

    private final class Events implements LockListener {

        @Override
        public void waitStarted(LockEvent event) {
            events.add(event);
        }

        @Override
        public void waitEnded(LockEvent event) {
            events.add(event);
        }

        @Override
        public void acquired(LockEvent event) {
            events.add(event);
        }

        @Override
        public void released(LockEvent event) {
            events.add(event);
        }

        @Override
        public void lost(LockEvent event) {
            events.add(event);
        }
    }
}
