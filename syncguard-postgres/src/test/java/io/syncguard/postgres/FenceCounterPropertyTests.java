package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.core.LockEngine;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/** Whatever the counter is, the next grant takes the next fence. After the last fence there are no grants. */
class FenceCounterPropertyTests {

    private static CountedPostgres postgres;
    private static LockEngine locks;

    @BeforeContainer
    static void open() {
        postgres = CountedPostgres.withSchema();
        locks = postgres.locks();
    }

    @AfterContainer
    static void close() {
        locks.close();
        postgres.close();
    }

    @Property
    void a_grant_takes_the_number_after_that_of_the_counter_if_there_is_one(@ForAll("counters") long counter) {
        postgres.jdbc.update(
                "INSERT INTO syncguard_fence_counters VALUES ('fence:a', ?, 'a') ON CONFLICT (fence_key) DO UPDATE"
                        + " SET fence = excluded.fence",
                counter);
        if (counter >= Fence.MAX_VALUE) {
            LockException failure =
                    catchThrowableOfType(LockException.class, () -> locks.tryAcquire(LockRequest.of("a")));

            assertThat(failure.code()).isEqualTo(LockErrorCode.INTERNAL);
            assertThat(failure).hasMessageContaining("'a'");
            assertThat(locks.isLocked("a")).isFalse();
            assertThat(storedCounter()).isEqualTo(counter);
            return;
        }
        try (LockHandle lock = locks.tryAcquire(LockRequest.of("a"))) {
            assertThat(lock.fence().value()).isEqualTo(counter + 1);
            assertThat(locks.admin().lookup("a").orElseThrow().fence()).isEqualTo(lock.fence());
            assertThat(postgres.jdbc.queryForObject("SELECT fence FROM syncguard_locks", String.class))
                    .isEqualTo(lock.fence().toString());
            assertThat(storedCounter()).isEqualTo(counter + 1);
        }
    }

    @Provide
    Arbitrary<Long> counters() {
        Arbitrary<Long> nearTheEnd = Arbitraries.longs().between(Fence.MAX_VALUE - 2, Fence.MAX_VALUE + 2);
        Arbitrary<Long> before = Arbitraries.longs().between(0, Fence.MAX_VALUE - 1);
        Arbitrary<Long> beyond = Arbitraries.longs().between(Fence.MAX_VALUE, Long.MAX_VALUE);
        return Arbitraries.oneOf(nearTheEnd, before, beyond);
    }

    private static long storedCounter() {
        return postgres.jdbc.queryForObject(
                "SELECT fence FROM syncguard_fence_counters WHERE fence_key = 'fence:a'", Long.class);
    }
}
