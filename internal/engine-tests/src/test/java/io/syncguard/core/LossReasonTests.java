package io.syncguard.core;

import static io.syncguard.core.EngineFixture.TTL;
import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.syncguard.CurrentLocks;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockHandles;
import io.syncguard.LockLostException;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.memory.InMemoryLockBackend;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a holder is told of the reason of a loss: the exception and the handle have it. */
class LossReasonTests {

    private static final String KEY = "order:42";

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;

    enum Loss {
        NOT_EXTENDED(LockReason.EXPIRED, "no extension was confirmed in time") {
            @Override
            void happen(EngineFixture fixture, LockHandle lock) {
                fixture.time.advance(TTL);
            }
        },
        LAPSED_AT_THE_SERVER(LockReason.EXPIRED, "its lease had lapsed at the server") {
            @Override
            void happen(EngineFixture fixture, LockHandle lock) {
                fixture.store.expire(KEY);
                lock.extend(TTL);
            }
        },
        GONE_AT_THE_SERVER(LockReason.NOT_FOUND, "the server does not know it any more") {
            @Override
            void happen(EngineFixture fixture, LockHandle lock) {
                new InMemoryLockBackend(fixture.store).directory().forceRelease(KEY, null);
                lock.extend(TTL);
            }
        },
        ENDED_BY_AN_OPERATOR(LockReason.RELEASED_BY_FORCE, "it was released by force") {
            @Override
            void happen(EngineFixture fixture, LockHandle lock) {
                fixture.engine.admin().forceRelease(KEY, "a test");
            }
        },
        HELD_TOO_LONG(LockReason.HOLD_AT_MOST, "it was held for 20s, the longest time of its request") {
            @Override
            void happen(EngineFixture fixture, LockHandle lock) {
                fixture.time.advance(Duration.ofSeconds(20));
            }
        };

        private final LockReason reason;
        private final String explanation;

        Loss(LockReason reason, String explanation) {
            this.reason = reason;
            this.explanation = explanation;
        }

        abstract void happen(EngineFixture fixture, LockHandle lock);

        LockRequest request() {
            LockRequest request = LockRequest.of(KEY).noHeartbeat();
            return this == HELD_TOO_LONG ? request.holdAtMost(Duration.ofSeconds(20)) : request;
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_exception_and_the_handle_have_the_reason(Loss loss) throws Exception {
        List<LockReason> reasons = new CopyOnWriteArrayList<>();
        LockHandle lock = locks.acquire(loss.request());
        LockHandle joined =
                CurrentLocks.call(lock, () -> locks.acquire(LockRequest.of(KEY).noHeartbeat()));
        assertThat(lock.loss()).isNull();
        lock.onLost(() -> reasons.add(reasonOf(joined)));

        loss.happen(fixture, lock);

        assertThat(reasonOf(lock)).isEqualTo(loss.reason);
        assertThat(catchThrowableOfType(LockLostException.class, joined::close).reason())
                .isEqualTo(loss.reason);
        LockLostException thrown = catchThrowableOfType(LockLostException.class, lock::close);
        assertThat(thrown.reason()).isEqualTo(loss.reason);
        assertThat(thrown)
                .hasMessage("Lock 'order:42' was lost while it was in use: " + loss.explanation
                        + ". Another holder may have worked at the same time: check the last writes");
        eventually().until(() -> reasons.equals(List.of(loss.reason)));
    }

    @Test
    void a_loss_that_the_release_finds_has_its_reason_as_well() {
        LockHandle lock = locks.acquire(LockRequest.of(KEY).noHeartbeat());
        new InMemoryLockBackend(fixture.store).directory().forceRelease(KEY, null);

        LockLostException thrown = catchThrowableOfType(LockLostException.class, lock::close);

        assertThat(thrown.reason()).isEqualTo(LockReason.NOT_FOUND);
        assertThat(thrown)
                .hasMessageContaining(
                        "was lost while it was in use: the server did not know it any more when it was released");
    }

    @Test
    void a_permit_and_each_of_several_locks_have_their_reason() {
        LockHandle permit = locks.acquire(LockRequest.of("pool").permits(3).noHeartbeat());
        LockHandles both = locks.acquire(List.of(
                LockRequest.of("a").noHeartbeat(),
                LockRequest.of("b").noHeartbeat().ttl(TTL.multipliedBy(2))));
        locks.admin().forceRelease("pool", "a test");
        locks.admin().forceRelease("b", "a test");
        fixture.time.advance(TTL);

        assertThat(reasonOf(permit)).isEqualTo(LockReason.RELEASED_BY_FORCE);
        assertThat(both.all())
                .extracting(LossReasonTests::reasonOf)
                .containsExactly(LockReason.EXPIRED, LockReason.RELEASED_BY_FORCE);
    }

    @Test
    void the_last_errors_of_the_heartbeat_are_suppressed_in_it() {
        AtomicInteger failures = new AtomicInteger();
        fixture.backend.beforeExtend = () -> {
            throw new LockBackendException(
                    LockErrorCode.SERVICE_UNAVAILABLE, String.format("failure %03d", failures.incrementAndGet()), null);
        };

        assertThatThrownBy(() -> new LockTemplate(locks).executeWithoutResult(LockRequest.of(KEY), lock -> {
                    fixture.advanceUntil(() -> !lock.isHeld());
                    throw new IllegalStateException("mine");
                }))
                .hasMessage("mine")
                .satisfies(mine -> {
                    assertThat(mine.getSuppressed()).hasSize(1);
                    LockLostException lost = (LockLostException) mine.getSuppressed()[0];
                    assertThat(lost.reason()).isEqualTo(LockReason.EXPIRED);
                    assertThat(lost.getSuppressed())
                            .hasSize(3)
                            .allSatisfy(each -> assertThat(each).isInstanceOf(LockBackendException.class));
                    assertThat(lost.getSuppressed()[2].getMessage())
                            .isGreaterThan(lost.getSuppressed()[0].getMessage());
                });
    }

    @Test
    void errors_before_the_last_confirmed_extension_are_left_out() {
        LockHandle lock = locks.acquire(LockRequest.of(KEY));
        fixture.backend.beforeExtend = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        fixture.advanceSlowly(Duration.ofSeconds(15), Duration.ofSeconds(1));
        assertThat(fixture.engine.diagnostics().process().failedHeartbeats()).isPositive();
        fixture.backend.beforeExtend = () -> {};
        assertThat(lock.extend(TTL)).isTrue();

        locks.admin().forceRelease(KEY, "a test");

        assertThat(catchThrowableOfType(LockLostException.class, lock::close).getSuppressed())
                .isEmpty();
    }

    @Test
    void a_lock_that_was_released_before_is_no_loss() {
        LockHandle lock = locks.acquire(LockRequest.of(KEY));
        lock.release();

        assertThat(lock.loss()).isNull();
        assertThat(catchThrowableOfType(LockLostException.class, lock::rotateFence)
                        .reason())
                .isEqualTo(LockReason.RELEASED);
    }

    private static LockReason reasonOf(LockHandle lock) {
        return Objects.requireNonNull(lock.loss()).reason();
    }
}
