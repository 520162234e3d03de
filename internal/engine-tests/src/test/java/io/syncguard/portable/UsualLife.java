package io.syncguard.portable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockMode;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpListener;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The life of some locks in two processes, for databases with settings of all kinds. */
final class UsualLife implements AutoCloseable {

    private static final Duration TTL = Duration.ofMinutes(1);

    private final PortableStoppedStore store;
    private final StoreCalls one;
    private final StoreCalls other;
    private final Map<Long, AcquireResult.Granted> handedOver = new ConcurrentHashMap<>();

    private UsualLife(PortableStoppedStore store) {
        this.store = store;
        this.one = new StoreCalls(store.newBackend());
        this.other = new StoreCalls(store.newBackend());
        other.connect(new WakeUpListener() {
            @Override
            public void wake(long waiter) {}

            @Override
            public void handOver(long waiter, AcquireResult.Granted grant) {
                handedOver.put(waiter, grant);
            }

            @Override
            public void wakeUpsMissed() {}
        });
    }

    static void passes(Dialect dialect, String url) {
        try (PortableStoppedStore store = new PortableStoppedStore(dialect, url, FenceSource.COUNTER);
                UsualLife life = new UsualLife(store)) {
            assertThat(store.clockMillis()).isCloseTo(System.currentTimeMillis(), within(10_000L));
            life.keysDifferByTheirBytes();
            life.aReleaseHandsOver();
            life.aLapsedLeaseIsTaken();
            life.keysAreGrantedTogether();
        }
    }

    private void keysDifferByTheirBytes() {
        List<String> keys = List.of("a", "A", "a ", "ä", "a\\' \"`%_", "\uD83D\uDD12");
        keys.forEach(key -> assertThat(one.acquire(request(key))).isInstanceOf(AcquireResult.Granted.class));
        keys.forEach(key -> assertThat(other.acquire(request(key)))
                .isInstanceOfSatisfying(
                        AcquireResult.Refused.class,
                        refused -> assertThat(refused.holder().owner()).isEqualTo("the \\owner' of \"" + key + "\"")));
        assertThat(one.list(LockQuery.all()).locks())
                .extracting(LockStatus::key)
                .containsExactlyInAnyOrderElementsOf(keys);
        keys.forEach(one::forceRelease);
    }

    private void aReleaseHandsOver() {
        AcquireRequest first = request("k");
        AcquireRequest second = request("k").waitingAs(7);
        one.acquire(first);
        assertThat(other.acquire(second)).isInstanceOf(AcquireResult.Queued.class);
        one.release(first.lockId());
        await().until(() -> handedOver.containsKey(7L));
        assertThat(other.extendAll(List.of(
                        Requests.extension(second.lockId(), TTL),
                        Requests.extension(first.lockId(), TTL.plusSeconds(1)))))
                .hasExactlyElementsOfTypes(ExtendResult.Extended.class, ExtendResult.NotFound.class);
        assertThat(other.release(second.lockId())).isEqualTo(ReleaseResult.RELEASED);
    }

    private void aLapsedLeaseIsTaken() {
        AcquireRequest first = request("lapsing");
        one.acquire(first);
        store.moveClock(TTL.plusSeconds(1));
        assertThat(one.extend(Requests.extension(first.lockId(), TTL))).isInstanceOf(ExtendResult.Expired.class);
        assertThat(other.acquire(request("lapsing"))).isInstanceOf(AcquireResult.Granted.class);
        assertThat(one.release(first.lockId())).isEqualTo(ReleaseResult.NOT_FOUND);
    }

    private void keysAreGrantedTogether() {
        assertThat(one.acquireTogether(List.of(request("x"), request("y"), request("z")), GrantExtent.ALL))
                .hasOnlyElementsOfType(AcquireResult.Granted.class);
        assertThat(other.acquireTogether(List.of(request("w"), request("x")), GrantExtent.ALL))
                .hasAtLeastOneElementOfType(AcquireResult.Refused.class);
    }

    private static AcquireRequest request(String key) {
        return Requests.of(
                key,
                LockMode.EXCLUSIVE,
                0,
                Requests.newLockId(),
                TTL,
                "the \\owner' of \"" + key + "\"",
                true,
                false,
                null);
    }

    @Override
    public void close() {
        one.close();
        other.close();
    }
}
