package io.syncguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests are values: what differs in one option is not equal, and the text says every option. */
class LockRequestTests {

    private static final LockRequest ORDER = LockRequest.of("order", "42");

    static Stream<Arguments> changes() {
        Duration second = Duration.ofSeconds(1);
        return Stream.of(
                change("name=shop", request -> request.meterName("shop")),
                change("key=order:43", request -> request.key("order:43")),
                change("mode=SHARED", LockRequest::shared),
                change("permits=5", request -> request.permits(5)),
                change("ttl=PT1S", request -> request.ttl(second)),
                change("waitTime=PT1S", request -> request.waitTime(second)),
                change("exactWaitTime=true", request -> request.waitExactly(second)),
                change("heartbeat=false", LockRequest::noHeartbeat),
                change("heartbeatInterval=PT1S", request -> request.heartbeat(second)),
                change("onLost=NOTIFY", request -> request.onLost(OnLost.NOTIFY)),
                change("holdAtLeast=PT1S", request -> request.holdAtLeast(second)),
                change("holdAtMost=PT1S", request -> request.holdAtMost(second)),
                change("commitGuard=OFF", request -> request.commitGuard(CommitGuard.OFF)),
                change("owner=node-7", request -> request.owner("node-7")));
    }

    @ParameterizedTest
    @MethodSource("changes")
    void a_change_makes_another_request(String shown, UnaryOperator<LockRequest> change) {
        String before = ORDER.toString();

        assertThat(change.apply(ORDER))
                .isNotEqualTo(ORDER)
                .isEqualTo(change.apply(ORDER))
                .hasSameHashCodeAs(change.apply(ORDER))
                .asString()
                .contains(shown);
        assertThat(ORDER).hasToString(before).asString().doesNotContain(shown);
    }

    @Test
    void permits_are_those_of_a_shared_lock_whichever_comes_first() {
        assertThat(ORDER.permits(5))
                .isEqualTo(ORDER.shared().permits(5))
                .isEqualTo(ORDER.permits(5).shared());
        assertThat(ORDER.permits(5).permits()).isEqualTo(5);
        assertThat(ORDER.permits(5).mode()).isEqualTo(LockMode.SHARED);
        assertThat(ORDER.permits(5)).isNotEqualTo(ORDER.shared()).isNotEqualTo(ORDER.permits(6));
        assertThat(ORDER.shared().permits()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, 10_001, Integer.MAX_VALUE})
    void impossible_permits_are_refused(int permits) {
        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> ORDER.permits(permits))
                .withMessage("number of permits is " + permits + ", but has to be between 1 and 10000")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 10_000})
    void possible_permits_are_accepted(int permits) {
        assertThat(ORDER.permits(permits).permits()).isEqualTo(permits);
    }

    @Test
    void a_key_makes_no_further_line_of_the_text() {
        assertThat(LockRequest.of("a\nb").toString()).doesNotContain("\n");
    }

    private static Arguments change(String shown, UnaryOperator<LockRequest> change) {
        return Arguments.of(shown, change);
    }
}
