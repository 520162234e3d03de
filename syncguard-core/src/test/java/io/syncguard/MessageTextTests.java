package io.syncguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.syncguard.leader.LeaderSettings;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.Hashes;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class MessageTextTests {

    @ParameterizedTest
    @CsvSource({
        "PT0S, 0s",
        "PT5S, 5s",
        "PT0.5S, 500ms",
        "PT1M30S, 1m30s",
        "PT90M, 1h30m",
        "PT24H, 1d",
        "PT8784H, 366d",
        "PT7.5S, 7500ms",
        "PT59.999S, 59999ms",
        "PT90.5S, 1m30s500ms",
        "PT0.0015S, 1ms500us",
        "PT0.000000001S, 1ns",
        "PT-1S, -1s",
        "PT-0.5S, -500ms"
    })
    void a_duration_is_written_as_in_a_property(Duration duration, String text) {
        assertThat(MessageText.of(duration)).isEqualTo(text);
    }

    @Test
    void the_longest_durations_have_a_text() {
        assertThat(MessageText.of(Duration.ofSeconds(Long.MAX_VALUE, 999_999_999)))
                .startsWith("106751991167300d")
                .endsWith("999ns");
        assertThat(MessageText.of(Duration.ofSeconds(Long.MIN_VALUE))).isNotEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "settelment, settlement",
        "Settlement, settlement",
        "report, reports",
        "redsi, redis",
        "postgress, postgres",
        "mysql,",
        "a,",
        "'',"
    })
    void the_nearest_name_is_suggested_if_one_is_similar(String unknown, String suggested) {
        assertThat(MessageText.nearest(unknown, List.of("reports", "redis", "settlement", "postgres", "b")))
                .isEqualTo(suggested);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void a_limit_is_said_with_the_value_and_with_units(ThrowingCallable call, String message) {
        assertThatExceptionOfType(LockException.class).isThrownBy(call).withMessage(message);
    }

    static Stream<Arguments> limits() {
        LockRequest request = LockRequest.of("a");
        Duration second = Duration.ofSeconds(1);
        Duration year = Duration.ofDays(365);
        return Stream.of(
                limit(() -> request.ttl(Duration.ZERO), "ttl is 0s, but has to be between 1ms and 365d"),
                limit(() -> request.ttl(second.negated()), "ttl is -1s, but has to be between 1ms and 365d"),
                limit(() -> request.ttl(year.plusMillis(1)), "ttl is 365d1ms, but has to be between 1ms and 365d"),
                limit(
                        () -> request.ttl(Duration.ofNanos(1_500_000)),
                        "ttl is 1ms500us, but has to be a whole number of milliseconds"),
                limit(() -> request.waitTime(second.negated()), "wait time is -1s, but has to be between 0s and 365d"),
                limit(
                        () -> request.holdAtLeast(year.plusDays(1)),
                        "time to hold at least is 366d, but has to be between 0s and 365d"),
                limit(
                        () -> request.holdAtMost(Duration.ZERO),
                        "time to hold at most is 0s, but has to be between 1ms and 365d"),
                limit(
                        () -> request.holdAtLeast(second.multipliedBy(10)).holdAtMost(second.multipliedBy(5)),
                        "time to hold at most is 5s, but has to be at least 10s, the time to hold at least"),
                limit(
                        () -> request.ttl(second.multipliedBy(3)).heartbeat(second.multipliedBy(5)),
                        "heartbeat is 5s, but has to be at most 1s, a third of the ttl (3s)"),
                limit(
                        () -> request.ttl(second.multipliedBy(5)).heartbeat(second.multipliedBy(2)),
                        "heartbeat is 2s, but has to be at most 1666ms, a third of the ttl (5s)"),
                limit(
                        () -> LeaderSettings.of(second.plusMillis(1)).fenceRotation(second),
                        "fence rotation is 1s, but has to be at most 500ms, half of the ttl (1001ms)"
                                + ". Zero turns it off"),
                limit(() -> request.heartbeat(Duration.ZERO), "heartbeat is 0s, but has to be at least 1ms"),
                limit(
                        () -> request.ttl(Duration.ofMillis(2)).heartbeat(Duration.ofMillis(1)),
                        "ttl is 2ms, but has to be at least 3ms for a heartbeat"),
                limit(() -> LeaderSettings.of(Duration.ZERO), "ttl is 0s, but has to be at least 3ms for a heartbeat"),
                limit(
                        () -> LeaderSettings.of(Duration.ofMillis(2)),
                        "ttl is 2ms, but has to be at least 3ms for a heartbeat"),
                limit(
                        () -> LeaderSettings.of(second.multipliedBy(15)).fenceRotation(second.multipliedBy(10)),
                        "fence rotation is 10s, but has to be at most 7500ms, half of the ttl (15s)"
                                + ". Zero turns it off"),
                limit(
                        () -> LeaderSettings.defaults().fenceRotation(second.negated()),
                        "fence rotation is -1s, but has to be at most 7500ms, half of the ttl (15s)"
                                + ". Zero turns it off"));
    }

    @Test
    void a_long_text_of_somebody_else_is_shortened() {
        String shortened = "x".repeat(511) + "\u2026";

        assertThat(MessageText.shortened("x".repeat(512))).isEqualTo("x".repeat(512));
        assertThat(MessageText.shortened("x".repeat(511) + "\ud83d\udd12")).isEqualTo(shortened);
        assertThat(MessageText.shortened("x".repeat(100_000))).hasSize(513);
    }

    /** Another application may write any owner into the tables. */
    @Test
    void an_owner_of_the_store_is_shortened_wherever_it_is_shown() {
        String owner = "x".repeat(100_000);
        RawLockInfo raw =
                new RawLockInfo("a", "id", LockMode.EXCLUSIVE, Instant.EPOCH, Instant.EPOCH, new Fence(1), owner);

        assertThat(Stream.of(
                        raw.owner(),
                        Hashes.abbreviated(raw).owner(),
                        new AcquireResult.Holder(owner, Instant.EPOCH, true, false).owner(),
                        new LockStatus.Waiter(LockMode.SHARED, 0, owner, Instant.EPOCH).owner()))
                .allSatisfy(each -> assertThat(each).hasSize(513));
    }

    @Test
    void many_names_are_counted_and_not_compared() {
        List<String> names = IntStream.range(0, 100_000)
                .mapToObj(i -> "tenant-" + (100_000 + i))
                .toList();

        assertThat(MessageText.listed(List.of("south", "north"))).isEqualTo("[north, south]");
        assertThat(MessageText.listed(names)).isEqualTo("100000 others");
        assertTimeoutPreemptively(Duration.ofSeconds(10), () -> {
            for (int i = 0; i < 2_000; i++) {
                assertThat(MessageText.nextSteps("tenant-x" + i, names, "Correct it"))
                        .isNotEmpty();
            }
            assertThat(MessageText.nextSteps("x".repeat(4_000_000), names, "Correct it"))
                    .containsExactly("Correct it");
        });
    }

    private static Arguments limit(ThrowingCallable call, String message) {
        return Arguments.of(call, message);
    }
}
