package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.LockSettings;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A holder that extends its lock as a request asks gets what a new lock of that request would have. */
class ExtendAsTests {

    private static final LockRequest REQUEST = LockRequest.of("report").noHeartbeat();

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture(
            new EngineSettings(
                    "test",
                    EngineFixture.TTL,
                    Duration.ofSeconds(5),
                    Duration.ofMillis(20),
                    Duration.ofMillis(500),
                    Duration.ofSeconds(10),
                    Duration.ZERO,
                    Map.of(
                            "nightly",
                            new LockSettings(
                                    Duration.ofMinutes(7), null, null, null, null, null, null, null, null, null))),
            TransactionBoundary.NONE);

    private final LockHandle lock = fixture.engine.acquire(REQUEST.ttl(Duration.ofSeconds(20)));

    @Test
    void the_settings_of_the_name_come_before_the_request_and_the_default_after_it() throws Exception {
        assertThat(lock.extendAs(REQUEST)).isTrue();
        assertThat(lock.remaining()).isEqualTo(EngineFixture.TTL);
        assertThat(lock.extendAs(REQUEST.ttl(Duration.ofMinutes(2)))).isTrue();
        assertThat(lock.remaining()).isEqualTo(Duration.ofMinutes(2));
        LockRequest named = LockRequest.of("report").meterName("nightly").ttl(Duration.ofMinutes(2));
        Callable<Boolean> joined = lock.bind(() -> {
            try (LockHandle nested = fixture.engine.acquire(REQUEST)) {
                return nested.extendAs(named);
            }
        });
        assertThat(joined.call()).isTrue();
        assertThat(lock.remaining()).isEqualTo(Duration.ofMinutes(7));
    }

    @Test
    void its_shortest_time_counts_from_the_extension_on() {
        fixture.time.advance(Duration.ofSeconds(10));
        assertThat(lock.extendAs(REQUEST.holdAtLeast(Duration.ofSeconds(15)))).isTrue();
        fixture.time.advance(Duration.ofSeconds(14));
        lock.release();

        assertThat(fixture.engine.isLocked("report")).isTrue();
        fixture.time.advance(Duration.ofSeconds(1));
        assertThat(fixture.engine.isLocked("report")).isFalse();
    }

    @Test
    void a_lock_that_has_ended_is_not_extended() {
        assertThatThrownBy(() -> lock.extendAs(null))
                .isInstanceOfSatisfying(
                        LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
        lock.release();

        assertThat(lock.extendAs(REQUEST)).isFalse();
        assertThat(fixture.engine.isLocked("report")).isFalse();
    }
}
