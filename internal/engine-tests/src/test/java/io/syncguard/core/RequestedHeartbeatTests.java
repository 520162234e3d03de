package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockInfo;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A request determines how often its lock is extended, and under which label it is shown. */
class RequestedHeartbeatTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42");
    private static final LockRequest FREQUENT = REQUEST.heartbeat(Duration.ofSeconds(2));

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;
    private final LockTemplate template = new LockTemplate(locks);

    @Test
    void a_lock_is_extended_as_often_as_it_was_asked_for() {
        locks.acquire(FREQUENT);

        fixture.advanceSlowly(Duration.ofSeconds(20), Duration.ofMillis(250));

        assertThat(fixture.backend.extendStatements.get()).isBetween(9, 11);
    }

    @Test
    void a_heartbeat_that_failed_is_tried_again_after_a_quarter_of_that() {
        locks.acquire(FREQUENT);
        fixture.backend.beforeExtend = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        fixture.time.advance(Duration.ofSeconds(2));
        eventually().until(() -> fixture.events.contains("failed EXTEND SERVICE_UNAVAILABLE"));

        fixture.backend.beforeExtend = () -> {};
        fixture.time.advance(Duration.ofMillis(500));

        eventually().until(() -> fixture.events.contains("extended"));
    }

    @Test
    void a_lock_that_is_asked_for_without_is_extended_every_third_of_its_ttl() {
        locks.acquire(FREQUENT.noHeartbeat().key("without"));
        locks.acquire(REQUEST);

        fixture.advanceSlowly(Duration.ofSeconds(25), Duration.ofMillis(500));

        assertThat(fixture.backend.extendStatements).hasValue(2);
    }

    @Test
    void an_interval_of_more_than_a_third_of_the_ttl_is_refused_before_anybody_is_asked() {
        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> locks.acquire(REQUEST.heartbeat(Duration.ofMillis(10_001))))
                .withMessageStartingWith("Lock 'order:42': heartbeat is 10001ms")
                .withMessageContaining("the ttl (30s)")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));

        assertThat(fixture.backend.acquires).hasValue(0);
        assertThat(locks.acquire(REQUEST.heartbeat(Duration.ofSeconds(10))).isHeld())
                .as("just a third")
                .isTrue();
    }

    @Test
    void a_lease_that_was_made_shorter_is_extended_every_third_of_what_it_lives() {
        LockHandle lock = locks.acquire(REQUEST.heartbeat(Duration.ofSeconds(10)));
        lock.extend(Duration.ofSeconds(3));

        fixture.advanceSlowly(Duration.ofSeconds(20), Duration.ofMillis(250));

        assertThat(lock.isHeld()).isTrue();
    }

    @Test
    void a_nested_request_has_the_outer_hold_extended_as_often_as_it_wants() {
        template.executeWithoutResult(
                REQUEST,
                outer -> template.executeWithoutResult(FREQUENT, inner -> {
                    fixture.advanceSlowly(Duration.ofSeconds(9), Duration.ofMillis(250));

                    assertThat(fixture.backend.extendStatements.get()).isBetween(4, 5);
                }));
    }

    @Test
    void a_nested_request_has_no_hold_extended_less_often() {
        template.executeWithoutResult(
                FREQUENT,
                outer -> template.executeWithoutResult(REQUEST.heartbeat(Duration.ofSeconds(9)), inner -> {
                    fixture.advanceSlowly(Duration.ofSeconds(9), Duration.ofMillis(250));

                    assertThat(fixture.backend.extendStatements.get()).isBetween(4, 5);
                }));
    }

    @Test
    void lookups_show_the_owner_of_the_request_or_else_that_of_the_process() {
        locks.acquire(REQUEST.owner("node-7"));
        locks.acquire(LockRequest.of("order:43"));

        assertThat(locks.admin().lookup("order:42")).map(LockInfo::owner).contains("node-7");
        assertThat(locks.admin().lookup("order:43")).map(LockInfo::owner).contains("test");
    }

    @Test
    void a_nested_request_leaves_the_owner_as_it_is() {
        template.executeWithoutResult(
                REQUEST.owner("outer"),
                outer -> template.executeWithoutResult(
                        REQUEST.owner("inner"),
                        inner -> assertThat(locks.admin().lookup("order:42"))
                                .map(LockInfo::owner)
                                .contains("outer")));
    }
}
