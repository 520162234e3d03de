package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.LockMode;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What scripts decide in the millisecond in which a lease lapses, and after the clock of the server has stepped back.
 */
class RedisClockTests {

    private static final Duration TTL = Duration.ofMinutes(10);
    private static final Duration LAPSED = TTL.plusMillis(LockBackend.TOLERANCE_MILLIS);
    private static final Duration MILLI = Duration.ofMillis(1);
    private static final Duration HOUR = Duration.ofHours(1);

    private final RedisStoppedStore store = new RedisStoppedStore(FenceSource.CLOCK);
    private final StoreCalls backend = store.newBackend();
    private final AtomicInteger lockIds = new AtomicInteger();

    @AfterEach
    void close() {
        backend.close();
        store.close();
    }

    /** Redis still shows the key in the millisecond in which the lease is over. */
    @ParameterizedTest
    @EnumSource
    void a_lease_is_live_until_the_last_millisecond_of_its_tolerance(LockMode mode) {
        AcquireRequest released = granted(request("released", mode, TTL));
        AcquireRequest extended = granted(request("extended", mode, TTL));
        AcquireRequest late = granted(request("late", mode, TTL));
        AcquireRequest tooLate = granted(request("too late", mode, TTL));
        AcquireRequest replaced = granted(request("replaced", mode, TTL));
        store.moveClock(LAPSED.minus(MILLI));

        assertThat(backend.release(released.keyedLockId())).isEqualTo(ReleaseResult.RELEASED);
        assertThat(extend(extended)).isInstanceOf(ExtendResult.Extended.class);
        assertThat(backend.acquire(request("late", LockMode.EXCLUSIVE, TTL))).isInstanceOf(AcquireResult.Refused.class);
        store.moveClock(MILLI);

        assertThat(backend.isLocked("late")).isFalse();
        assertThat(backend.release(late.keyedLockId())).isEqualTo(ReleaseResult.EXPIRED);
        assertThat(extend(tooLate)).isInstanceOf(ExtendResult.Expired.class);
        granted(request("replaced", LockMode.EXCLUSIVE, TTL));
        assertThat(extend(replaced)).isInstanceOf(ExtendResult.NotFound.class);
    }

    @ParameterizedTest
    @EnumSource
    void a_lapsed_lease_does_not_come_back_beside_the_next_when_the_clock_steps_back(LockMode next) {
        AcquireRequest writer = granted(request("written", LockMode.EXCLUSIVE, TTL));
        AcquireRequest reader = granted(request("read", LockMode.SHARED, TTL));
        AcquireRequest longest = granted(request("read", LockMode.SHARED, TTL.multipliedBy(2)));
        store.moveClock(LAPSED);
        if (next == LockMode.EXCLUSIVE) {
            backend.release(longest.keyedLockId());
        }
        granted(request("written", next, TTL));
        granted(request("read", next, TTL));

        store.moveClock(HOUR.negated());

        assertThat(extend(writer)).isInstanceOf(ExtendResult.NotFound.class);
        assertThat(extend(reader)).isInstanceOf(ExtendResult.NotFound.class);
        assertThat(backend.release(reader.keyedLockId())).isEqualTo(ReleaseResult.NOT_FOUND);
        assertThat(backend.lookup("written")).hasSize(1);
        assertThat(backend.lookup("read")).hasSize(next == LockMode.EXCLUSIVE ? 1 : 2);
    }

    @ParameterizedTest
    @EnumSource
    void fences_grow_when_the_clock_steps_back(LockMode mode) {
        AcquireRequest before = granted(request("k", LockMode.EXCLUSIVE, TTL));
        Fence last = backend.lookup("k").get(0).fence();
        backend.release(before.keyedLockId());
        store.moveClock(HOUR.negated());

        AcquireRequest after = granted(request("k", mode, TTL));

        assertThat(backend.lookup("k").get(0).fence()).isEqualTo(new Fence(last.value() + 1));
        assertThat(backend.release(after.keyedLockId())).isEqualTo(ReleaseResult.RELEASED);
    }

    private AcquireRequest request(String key, LockMode mode, Duration ttl) {
        String lockId = String.format(Locale.ROOT, "%022d", lockIds.incrementAndGet());
        return mode == LockMode.SHARED
                ? Requests.shared(key, lockId, ttl, "test")
                : Requests.exclusive(key, lockId, ttl, "test");
    }

    private AcquireRequest granted(AcquireRequest request) {
        assertThat(backend.acquire(request)).isInstanceOf(AcquireResult.Granted.class);
        return request;
    }

    private ExtendResult extend(AcquireRequest request) {
        return backend.extend(Requests.extension(request.key(), request.lockId(), TTL));
    }
}
