package io.syncguard.core;

import static io.syncguard.core.EngineFixture.TTL;
import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockOperation;
import io.syncguard.LockOutcome;
import io.syncguard.LockReason;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.concurrent.Shielded;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Code that is not ours throws checked exceptions, and strands no lease: drivers, observers, transactions, callbacks.
 */
class ForeignCodeTests {

    private static final LockRequest ORDER = LockRequest.of("order:42");

    private final AtomicReference<@Nullable Throwable> ofBoundary = new AtomicReference<>();
    private EngineFixture fixture = new EngineFixture();

    @AfterEach
    void close() {
        Thread.interrupted();
        fixture.close();
    }

    @Test
    void a_driver_that_throws_after_the_grant_strands_no_lease() {
        IOException failure = new IOException("of the driver");
        fixture.backend.afterAcquire = () -> sneak(failure);

        assertThatThrownBy(() -> fixture.engine.acquire(ORDER)).isSameAs(failure);

        assertThat(fixture.events).isEmpty();
        assertFree();
    }

    @Test
    void a_driver_that_throws_at_the_release_has_it_repeated() {
        LockHandle lock = fixture.engine.acquire(ORDER);
        fixture.backend.beforeRelease = () -> sneak(new IOException("of the driver"));

        assertThat(lock.release()).isTrue();

        fixture.backend.beforeRelease = () -> {};
        assertFree();
    }

    @Test
    void a_driver_that_throws_in_the_heartbeat_does_not_end_it() {
        LockHandle lock = fixture.engine.acquire(ORDER);
        fixture.backend.beforeExtend = () -> sneak(new IOException("of the driver"));
        fixture.time.advance(TTL.dividedBy(3));
        eventually().until(() -> fixture.events.contains("failed EXTEND INTERNAL"));

        fixture.backend.beforeExtend = () -> {};
        eventually().until(() -> {
            fixture.advanceSlowly(Duration.ofMillis(500), Duration.ofMillis(100));
            return fixture.events.contains("extended");
        });

        assertThat(lock.isHeld()).isTrue();
    }

    @Test
    void a_callback_that_throws_does_not_keep_another_from_running() {
        LockHandle lock = fixture.engine.acquire(ORDER);
        AtomicInteger called = new AtomicInteger();
        lock.onLost(() -> sneak(new IOException("of the callback")));
        lock.onLost(called::incrementAndGet);

        fixture.store.expire(ORDER.key());
        assertThat(lock.release()).isFalse();

        eventually().until(() -> called.get() == 1);
    }

    @Test
    void an_observer_that_throws_changes_neither_the_body_nor_the_lock() throws Exception {
        restart(new EngineFixture(new FailingObserver()));
        AtomicInteger bodies = new AtomicInteger();

        assertThat(new LockTemplate(fixture.engine).<String, RuntimeException>execute(ORDER, lock -> {
                    assertThat(lock.extend(TTL)).isTrue();
                    return "body " + bodies.incrementAndGet();
                }))
                .isEqualTo("body 1");

        assertThat(fixture.events).containsExactly("acquired", "extended", "released");
        IOException ofBody = new IOException("of the body");
        assertThatThrownBy(() -> new LockTemplate(fixture.engine).execute(ORDER, lock -> {
                    throw ofBody;
                }))
                .isSameAs(ofBody);
        assertFree();
    }

    @Test
    void a_transaction_boundary_that_throws_at_the_grant_strands_no_lease() {
        restart(new EngineFixture(failingBoundary()));
        ofBoundary.set(new IOException("of the boundary"));

        assertThatThrownBy(() -> fixture.engine.acquire(ORDER)).isSameAs(ofBoundary.get());

        assertFree();
    }

    @Test
    void a_transaction_boundary_that_throws_at_the_release_strands_no_lease() {
        restart(new EngineFixture(failingBoundary()));
        LockHandle lock = fixture.engine.acquire(ORDER);
        ofBoundary.set(new IOException("of the boundary"));

        assertThatThrownBy(lock::release).isSameAs(ofBoundary.get());

        assertThat(lock.state()).isEqualTo(LockHandle.State.RELEASED);
        assertFree();
    }

    @Test
    void a_listener_that_clears_the_interrupt_flag_keeps_no_interrupt_from_its_caller() {
        restart(new EngineFixture(new LockListener() {
            @Override
            public void failed(LockEvent event, LockOperation operation, LockException error) {
                Thread.interrupted();
            }
        }));
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> fixture.engine.acquire(ORDER))
                .isInstanceOfSatisfying(
                        LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED));

        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void a_listener_that_sets_the_interrupt_flag_keeps_no_lock_from_being_released() {
        restart(new EngineFixture(new LockListener() {
            @Override
            public void acquired(LockEvent event) {
                Thread.currentThread().interrupt();
            }
        }));

        assertThat(fixture.engine.acquire(ORDER).release()).isTrue();

        assertThat(Thread.interrupted()).isTrue();
        assertFree();
    }

    @Test
    void a_part_that_throws_when_it_is_closed_does_not_keep_the_others_open() {
        List<String> closed = new ArrayList<>();

        Shielded.closeAll(
                () -> closed.add("first"),
                () -> {
                    throw new IOException("of the pool");
                },
                () -> sneak(new NoClassDefFoundError("io/example/Gone")),
                () -> closed.add("last"));

        assertThat(closed).containsExactly("first", "last");
    }

    private void restart(EngineFixture next) {
        fixture.close();
        fixture = next;
    }

    private void assertFree() {
        eventually().until(() -> {
            fixture.time.advance(Duration.ofMillis(100));
            return fixture.store.queue(ORDER.key()).isEmpty() && !fixture.engine.isLocked(ORDER.key());
        });
        assertThat(fixture.engine.diagnostics().process().held()).isZero();
    }

    private TransactionBoundary failingBoundary() {
        return (lease, afterCompletion) -> {
            sneak(ofBoundary.get());
            return 0;
        };
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void sneak(@Nullable Throwable failure) throws E {
        if (failure != null) {
            throw (E) failure;
        }
    }

    /** Throws from each method. */
    private static final class FailingObserver implements LockObserver {

        private static <T> T fail() {
            sneak(new IOException("of the observer"));
            throw new AssertionError();
        }

        @Override
        public AcquireObservation acquire(String backend, LockRequest request) {
            return new AcquireObservation() {
                @Override
                public void contended(@Nullable String owner) {
                    fail();
                }

                @Override
                public void waits() {
                    fail();
                }

                @Override
                public void ended(LockOutcome outcome) {
                    fail();
                }

                @Override
                public void failed(Throwable error) {
                    fail();
                }

                @Override
                public HeldObservation held(Fence fence) {
                    return new HeldObservation() {
                        @Override
                        public Body body() {
                            return new Body() {
                                @Override
                                public void failed(Throwable failure) {
                                    fail();
                                }

                                @Override
                                public void ended() {
                                    fail();
                                }
                            };
                        }

                        @Override
                        public LockObservation extend() {
                            return fail();
                        }

                        @Override
                        public LockObservation release() {
                            return fail();
                        }

                        @Override
                        public void released() {
                            fail();
                        }

                        @Override
                        public void lost(LockReason reason, String explanation) {
                            fail();
                        }
                    };
                }
            };
        }
    }
}
