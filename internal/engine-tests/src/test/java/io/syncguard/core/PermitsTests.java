package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.got;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockHandles;
import io.syncguard.LockInfo;
import io.syncguard.LockMode;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.spi.AcquireRequest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Callers of one process that share the permits of a key. The clock stands still unless a test moves it. */
@Timeout(60)
class PermitsTests {

    private static final String KEY = "partner:42";
    private static final LockRequest EXCLUSIVE =
            LockRequest.of(KEY).ttl(EngineFixture.TTL).waitTime(Duration.ofHours(1));

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;
    private final LockTemplate template = new LockTemplate(locks);
    private final List<AcquireRequest> requests = new CopyOnWriteArrayList<>();

    @BeforeEach
    void record() {
        fixture.backend.onAcquire = requests::add;
    }

    @Test
    void as_many_work_side_by_side_as_there_are_permits() {
        LockRequest request = EXCLUSIVE.permits(2);
        LockHandle first = locks.acquire(request);
        LockHandle second = locks.acquire(request);

        assertThat(locks.tryAcquire(request)).isNull();
        assertThat(locks.admin().holders(KEY))
                .extracting(LockInfo::fence)
                .containsExactly(first.fence(), second.fence());
        first.release();
        assertThat(locks.isLocked(KEY)).as("although there is room").isTrue();
        assertThat(locks.tryAcquire(request)).isNotNull();
    }

    /** {@code W} is an exclusive request, {@code R} a shared one without a limit, a number one with permits. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            W | W |
            W | R |
            W | 1 |
            5 | 5 |
            5 | 9 |
            5 | R |
            R | R |
            5 | 3 | is held in mode SHARED, as one of 5, and a nested request for one of 3 permits would join it
            R | 5 | is held in mode SHARED without a limit, and a nested request for one of 5 permits would join it
            5 | W | an exclusive request for it would wait for its own thread
            """)
    void a_nested_request_joins_without_a_further_permit_if_no_more_may_hold_the_key(
            String outer, String nested, String refusal) {
        template.executeWithoutResult(request(outer), lock -> {
            if (refusal == null) {
                template.executeWithoutResult(
                        request(nested), joined -> assertThat(joined.fence()).isEqualTo(lock.fence()));
            } else {
                assertThatExceptionOfType(LockException.class)
                        .isThrownBy(() -> template.executeWithoutResult(request(nested), joined -> {}))
                        .withMessageContainingAll(KEY, refusal, "from the start")
                        .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
            }
            assertThat(lock.isHeld()).isTrue();
        });

        assertThat(requests).hasSize(1);
        assertThat(locks.isLocked(KEY)).isFalse();
    }

    @Test
    void what_joined_an_exclusive_lock_is_no_limit_for_what_joins_next() {
        template.executeWithoutResult(
                EXCLUSIVE,
                lock -> template.executeWithoutResult(
                        EXCLUSIVE.permits(5),
                        joined -> template.executeWithoutResult(
                                EXCLUSIVE.permits(3),
                                next -> assertThat(next.mode()).isEqualTo(LockMode.EXCLUSIVE))));

        assertThat(requests).hasSize(1);
    }

    /** No wake-up arrives, and no poll is due. */
    @Test
    void a_release_grants_the_key_to_as_many_as_fit_without_another_request() throws Exception {
        fixture.deliverWakeUps(false);
        LockHandle alone = locks.acquire(EXCLUSIVE);
        List<FutureTask<LockHandle>> waiters = waiting(EXCLUSIVE.permits(2), 3);
        int before = requests.size();

        alone.release();

        assertThat(got(waiters.get(0)).fence().value()).isEqualTo(2);
        assertThat(got(waiters.get(1)).fence().value()).isEqualTo(3);
        fixture.settle();
        assertThat(waiters.get(2).isDone()).isFalse();
        got(waiters.get(0)).release();
        assertThat(got(waiters.get(2)).fence().value()).isEqualTo(4);
        assertThat(requests).hasSize(before);
    }

    @Test
    void all_whose_hand_over_is_lost_with_the_answer_look_at_once() throws Exception {
        fixture.deliverWakeUps(false);
        LockHandle alone = locks.acquire(EXCLUSIVE);
        List<FutureTask<LockHandle>> waiters = waiting(EXCLUSIVE.permits(3), 3);
        fixture.backend.afterRelease = () -> {
            fixture.backend.afterRelease = () -> {};
            throw InterceptedBackend.failure(LockErrorCode.NETWORK_TIMEOUT);
        };

        alone.release();

        for (FutureTask<LockHandle> waiter : waiters) {
            assertThat(got(waiter).remaining()).isEqualTo(EngineFixture.TTL);
        }
        assertThat(locks.admin().holders(KEY)).hasSize(3);
    }

    /** They cannot be handed the key: each asks for it, and its grant wakes the next. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_grant_that_leaves_room_wakes_the_next(boolean heartbeat) throws Exception {
        AcquireRequest alone = fixture.holdElsewhere(KEY, Duration.ofHours(1));
        LockRequest request = EXCLUSIVE.permits(3);
        List<FutureTask<LockHandle>> waiters = waiting(heartbeat ? request : request.noHeartbeat(), 3);
        if (heartbeat) {
            locks.admin().forceRelease(KEY);
        } else {
            fixture.releaseElsewhere(alone);
        }

        for (FutureTask<LockHandle> waiter : waiters) {
            assertThat(got(waiter).isHeld()).isTrue();
        }
        assertThat(locks.admin().holders(KEY)).hasSize(3);
    }

    @Test
    void an_exclusive_request_waits_for_all_permits_and_is_passed_by_nobody() throws Exception {
        LockRequest request = EXCLUSIVE.permits(3);
        List<LockHandle> permits =
                IntStream.range(0, 2).mapToObj(i -> locks.acquire(request)).toList();
        FutureTask<LockHandle> drain = fixture.startWaiting(EXCLUSIVE);

        assertThat(locks.tryAcquire(request)).isNull();
        FutureTask<LockHandle> later = fixture.startWaiting(request);
        permits.get(0).release();
        fixture.settle();
        assertThat(drain.isDone()).isFalse();
        permits.get(1).release();

        assertThat(got(drain).mode()).isEqualTo(LockMode.EXCLUSIVE);
        fixture.settle();
        assertThat(later.isDone()).isFalse();
        got(drain).release();
        assertThat(got(later).isHeld()).isTrue();
    }

    @Test
    void the_permit_of_a_process_that_died_is_back_one_ttl_and_the_tolerance_later() {
        fixture.readElsewhere(KEY, EngineFixture.TTL);
        LockRequest request = EXCLUSIVE.permits(1);

        fixture.time.advance(EngineFixture.TTL.plusMillis(999));
        assertThat(locks.tryAcquire(request)).isNull();
        fixture.time.advance(Duration.ofMillis(1));

        assertThat(locks.tryAcquire(request)).isNotNull();
    }

    @Test
    void a_waiter_learns_of_a_permit_whose_holder_died() throws Exception {
        fixture.readElsewhere(KEY, EngineFixture.TTL);
        fixture.readElsewhere(KEY, EngineFixture.TTL.multipliedBy(100));
        List<FutureTask<LockHandle>> waiters = waiting(EXCLUSIVE.permits(2), 1);

        fixture.advanceUntil(waiters.get(0)::isDone);

        assertThat(got(waiters.get(0)).isHeld()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"5, true, 30, true", "5, false, 30, false", "5, true, 4, false", "0, true, 30, false"})
    void a_request_says_how_many_permits_there_are_and_whether_a_release_may_grant_it(
            int permits, boolean heartbeat, int ttl, boolean handOver) {
        LockRequest request = permits == 0 ? EXCLUSIVE.shared() : EXCLUSIVE.permits(permits);
        locks.acquire((heartbeat ? request : request.noHeartbeat()).ttl(Duration.ofSeconds(ttl)));

        assertThat(requests).singleElement().satisfies(sent -> {
            assertThat(sent.options().permits()).isEqualTo(permits);
            assertThat(sent.options().mode()).isEqualTo(LockMode.SHARED);
            assertThat(sent.options().handOver()).isEqualTo(handOver);
        });
    }

    @Test
    void requests_for_several_keys_have_a_permit_of_each() {
        List<LockRequest> all = List.of(LockRequest.of("a"), LockRequest.of("b").permits(1), EXCLUSIVE.permits(2));

        LockHandles handles = locks.acquire(all);

        assertThat(requests).extracting(request -> request.options().permits()).containsExactly(0, 1, 2);
        assertThat(locks.tryAcquire(LockRequest.of("b").permits(1))).isNull();
        handles.close();
        assertThat(List.of("a", "b", KEY)).noneMatch(locks::isLocked);
    }

    private List<FutureTask<LockHandle>> waiting(LockRequest request, int number) {
        List<FutureTask<LockHandle>> waiters = new CopyOnWriteArrayList<>();
        for (int i = 0; i < number; i++) {
            waiters.add(fixture.startWaiting(request));
        }
        fixture.settle();
        eventually().until(() -> fixture.store.queue(KEY).size() == number);
        return waiters;
    }

    private static LockRequest request(String word) {
        return switch (word) {
            case "W" -> EXCLUSIVE;
            case "R" -> EXCLUSIVE.shared();
            default -> EXCLUSIVE.permits(Integer.parseInt(word));
        };
    }
}
