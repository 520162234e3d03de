package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.core.ForcedReleaseContract;
import io.syncguard.spi.AcquireRequest;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RedisForcedReleaseTests extends ForcedReleaseContract {

    @RegisterExtension
    private static final RedisContractStore store = new RedisContractStore();

    @Test
    void nothing_but_the_fence_is_left_of_the_leases() {
        held(reader());
        held(reader());

        backend().forceRelease(KEY);

        assertThat(store.redis().hasKey(store.key("fence", KEY))).isTrue();
        assertThat(store.redis().hasKey(store.key("readers", KEY))).isFalse();
        assertThat(store.redis().hasKey(store.key("shared", KEY))).isFalse();
    }

    /** The clock of the server goes on, so the test tries until it meets the second after the end. */
    @Test
    void it_ends_a_lease_until_its_tolerance_is_over() {
        Awaitility.await().until(() -> {
            AcquireRequest holder = held(writer());
            extend(holder, Duration.ofMillis(1));
            boolean isInTolerance = IntStream.range(0, 100)
                    .mapToObj(i -> backend().status(KEY))
                    .flatMap(Optional::stream)
                    .anyMatch(lock -> lock.holders().get(0).expiresAt().isBefore(lock.at()));
            return backend().forceRelease(KEY).released().size() == 1 && isInTolerance;
        });
    }
}
