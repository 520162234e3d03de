package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Extensions that failed, and that the server executes after a later one: the key is not granted to another caller
 * meanwhile.
 */
class LateExtensionTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42");

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;
    private final List<ExtendRequest> late = new ArrayList<>();

    @Test
    void a_late_heartbeat_does_not_let_anybody_in_beside_the_holder() {
        LockHandle lock = locks.acquire(REQUEST);
        failExtensions();
        fixture.time.advance(Duration.ofSeconds(10));
        eventually().until(() -> fixture.events.contains("failed EXTEND NETWORK_TIMEOUT"));
        endFailures();
        assertThat(lock.extend(Duration.ofHours(1))).isTrue();

        doLate();
        fixture.advanceSlowly(Duration.ofSeconds(40), Duration.ofSeconds(1));

        assertThat(lock.isHeld()).isTrue();
        assertThat(isGrantedElsewhere()).isFalse();
    }

    @Test
    void a_late_extension_that_was_no_shorter_than_the_time_left_is_reckoned_with() {
        LockHandle lock = locks.acquire(REQUEST.noHeartbeat());
        fixture.time.advance(Duration.ofSeconds(25));
        failToExtend(lock, Duration.ofSeconds(10));
        assertThat(lock.extend(EngineFixture.TTL)).isTrue();

        doLate();

        assertThat(lock.remaining()).isEqualTo(Duration.ofSeconds(10));
        fixture.time.advance(Duration.ofSeconds(10));
        assertThat(lock.state()).isEqualTo(LockHandle.State.LOST);
    }

    @Test
    void the_shortest_of_those_that_failed_counts_for_ever() {
        LockHandle lock = locks.acquire(REQUEST.noHeartbeat());
        failToExtend(lock, Duration.ofSeconds(20));
        failToExtend(lock, Duration.ofSeconds(10));
        failToExtend(lock, Duration.ofSeconds(15));

        for (int i = 0; i < 100; i++) {
            assertThat(lock.extend(Duration.ofMinutes(1))).isTrue();
            assertThat(lock.remaining()).isEqualTo(Duration.ofSeconds(10));
            fixture.time.advance(Duration.ofSeconds(9));
        }
    }

    @Test
    void a_shorter_extension_than_the_one_that_failed_is_as_short_as_it_was_asked_for() {
        LockHandle lock = locks.acquire(REQUEST.noHeartbeat());
        failToExtend(lock, Duration.ofSeconds(20));

        assertThat(lock.extend(Duration.ofSeconds(10))).isTrue();

        assertThat(lock.remaining()).isEqualTo(Duration.ofSeconds(10));
    }

    @Test
    void an_extension_that_found_the_row_pinned_does_not_come_late() {
        LockHandle lock = locks.acquire(REQUEST.noHeartbeat().ttl(Duration.ofHours(2)));
        fixture.backend.rowsArePinned = true;
        FutureTask<Boolean> busy = inAnotherThread(() -> lock.extend(Duration.ofMinutes(30)));
        eventually().until(() -> {
            fixture.time.advance(Duration.ofMillis(10));
            return busy.isDone();
        });
        assertThatThrownBy(busy::get).hasCauseInstanceOf(LockBackendException.class);
        fixture.backend.rowsArePinned = false;

        assertThat(lock.extend(Duration.ofHours(1))).isTrue();

        assertThat(lock.remaining()).isEqualTo(Duration.ofHours(1));
    }

    @Test
    void an_extension_that_was_never_sent_does_not_come_late() {
        LockHandle lock = locks.acquire(REQUEST.noHeartbeat());
        fixture.backend.beforeExtend = InterceptedBackend.failing(LockErrorCode.RATE_LIMITED);
        assertThatThrownBy(() -> lock.extend(Duration.ofSeconds(1))).isInstanceOf(LockBackendException.class);
        endFailures();

        assertThat(lock.extend(EngineFixture.TTL)).isTrue();

        assertThat(lock.remaining()).isEqualTo(EngineFixture.TTL);
    }

    private void failToExtend(LockHandle lock, Duration ttl) {
        failExtensions();
        assertThatThrownBy(() -> lock.extend(ttl)).isInstanceOf(LockBackendException.class);
        endFailures();
    }

    private void failExtensions() {
        fixture.backend.onExtensions = late::addAll;
        fixture.backend.beforeExtend = InterceptedBackend.failing(LockErrorCode.NETWORK_TIMEOUT);
    }

    private void endFailures() {
        fixture.backend.onExtensions = extensions -> {};
        fixture.backend.beforeExtend = () -> {};
    }

    private void doLate() {
        assertThat(fixture.backend.extendAll(late))
                .hasSize(late.size())
                .hasOnlyElementsOfType(ExtendResult.Extended.class);
    }

    private boolean isGrantedElsewhere() {
        AcquireRequest request = Requests.exclusive("order:42", new LockIds().next(), EngineFixture.TTL, "elsewhere");
        return new StoreCalls(new InMemoryLockBackend(fixture.store)).acquire(request) instanceof AcquireResult.Granted;
    }
}
