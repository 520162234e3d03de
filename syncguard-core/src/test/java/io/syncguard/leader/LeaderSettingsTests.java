package io.syncguard.leader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The settings that a member may have. */
class LeaderSettingsTests {

    private static final Duration TTL = Duration.ofSeconds(30);

    @Test
    void heartbeat_and_rotation_come_every_third_of_the_ttl_when_nothing_is_said() {
        assertThat(LeaderSettings.of(TTL))
                .isEqualTo(
                        LeaderSettings.of(TTL).heartbeat(Duration.ofSeconds(10)).fenceRotation(Duration.ofSeconds(10)));
        assertThat(LeaderSettings.defaults().ttl()).isEqualTo(Duration.ofSeconds(15));
    }

    @Test
    void a_fence_is_rotated_twice_in_a_ttl_or_more_often_or_never() {
        assertThatNoException().isThrownBy(() -> LeaderSettings.of(TTL).fenceRotation(Duration.ofSeconds(15)));
        assertThatNoException().isThrownBy(() -> LeaderSettings.of(TTL).fenceRotation(Duration.ZERO));
    }

    @ParameterizedTest
    @CsvSource({"PT15.001S, Zero turns it off", "-PT1S, Zero turns it off", "PT9223372036854775807S, Zero turns it off"
    })
    void another_rotation_is_refused_with_what_to_do(Duration period, String advice) {
        assertRefused(() -> LeaderSettings.of(TTL).fenceRotation(period), advice);
    }

    @ParameterizedTest
    @CsvSource({"PT10.001S", "PT0S"})
    void a_heartbeat_that_leaves_no_room_for_two_more_tries_is_refused(Duration interval) {
        assertRefused(() -> LeaderSettings.of(TTL).heartbeat(interval), "heartbeat");
    }

    @Test
    void a_ttl_that_is_none_is_refused() {
        assertRefused(() -> LeaderSettings.of(Duration.ZERO), "ttl");
    }

    private static void assertRefused(Runnable settings, String advice) {
        assertThatExceptionOfType(LockException.class)
                .isThrownBy(settings::run)
                .withMessageContaining(advice)
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
    }
}
