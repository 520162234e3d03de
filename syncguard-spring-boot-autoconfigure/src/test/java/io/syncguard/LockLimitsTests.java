package io.syncguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LockLimitsTests {

    @Test
    void a_key_is_normalised_and_nothing_else() {
        assertThat(LockLimits.key("Zu\u0308rich")).isEqualTo("Z\u00fcrich");
        assertThat(LockLimits.key(" A a ")).isEqualTo(" A a ");
        assertThat(LockLimits.key(" ")).isEqualTo(" ");
        assertThat(LockLimits.key("\uD83D\uDD12")).isEqualTo("\uD83D\uDD12");
        assertThat(LockRequest.of("e\u0301").key()).isEqualTo("\u00e9");
    }

    @Test
    void a_key_has_1_to_512_bytes_after_normalisation() {
        assertThat(LockLimits.key("x".repeat(512))).hasSize(512);
        assertThat(LockLimits.key("\u00e9".repeat(256))).hasSize(256);
        assertThat(LockLimits.key("e\u0301".repeat(256))).as("768 bytes before").hasSize(256);
        refused(() -> LockLimits.key(""), "empty");
        refused(() -> LockLimits.key("x".repeat(513)), "513");
        refused(() -> LockLimits.key("\u00e9".repeat(256) + "x"), "513");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\u0000", "\uD83D", "a\uD83Db", "\uDD12", "\uDD12\uD83D"})
    void a_key_without_a_meaning_on_every_backend_is_refused(String key) {
        refused(() -> LockLimits.key(key), "must");
    }

    @Test
    void a_ttl_is_a_whole_number_of_milliseconds_up_to_a_year() {
        assertThat(LockLimits.ttl(Duration.ofMillis(1))).hasMillis(1);
        assertThat(LockLimits.ttl(Duration.ofDays(365))).hasDays(365);
        refused(() -> LockLimits.ttl(Duration.ZERO), "ttl");
        refused(() -> LockLimits.ttl(Duration.ofMillis(-1)), "ttl");
        refused(() -> LockLimits.ttl(Duration.ofNanos(1_500_000)), "ttl");
        refused(() -> LockLimits.ttl(Duration.ofDays(365).plusMillis(1)), "ttl");
    }

    @Test
    void a_wait_time_may_be_zero_but_not_negative() {
        assertThat(LockRequest.of("a").waitTime(Duration.ZERO).waitTime()).isZero();
        refused(() -> LockRequest.of("a").waitTime(Duration.ofNanos(-1)), "wait time");
        refused(() -> LockRequest.of("a").holdAtLeast(Duration.ofDays(366)), "hold at least");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "short", "1234567890123456789012\n", "123456789012345678901=", "12345678901234567890123"})
    void a_malformed_lock_id_is_refused_without_being_shown(String lockId) {
        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> LockLimits.lockId(lockId))
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                .satisfies(ex -> assertThat(lockId.isEmpty() || !ex.getMessage().contains(lockId))
                        .isTrue());
    }

    @Test
    void a_fence_has_fifteen_digits() {
        assertThat(new Fence(42)).hasToString("000000000000042").isLessThan(new Fence(43));
        assertThat(new Fence(Fence.MAX_VALUE)).hasToString("900000000000000");
        refused(() -> new Fence(0), "between 1");
        refused(() -> new Fence(Fence.MAX_VALUE + 1), "between 1");
    }

    private static void refused(ThrowingCallable call, String message) {
        assertThatExceptionOfType(LockException.class)
                .isThrownBy(call)
                .withMessageContaining(message)
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
    }
}
