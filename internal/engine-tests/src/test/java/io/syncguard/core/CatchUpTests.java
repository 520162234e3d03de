package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.spi.AcquireRequest;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** When wake-ups arrive again, older answers do not count: no waiter sleeps because of one. */
class CatchUpTests {

    private static final LockRequest REQUEST = LockRequest.of("order:42").waitTime(Duration.ofHours(1));

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final AcquireRequest held = fixture.holdElsewhere("order:42", Duration.ofHours(1));

    @Test
    void a_caller_who_is_just_being_queued_sends_one_more_request() throws Exception {
        fixture.backend.afterAcquire = this::releaseUnnoticed;

        assertThat(wait(REQUEST).get(10, TimeUnit.SECONDS)).isNotNull();
    }

    @Test
    void a_waiter_whose_entry_is_just_being_renewed_looks_once_more() throws Exception {
        FutureTask<LockHandle> waiter = wait(REQUEST);
        eventually().until(() -> !fixture.store.queue("order:42").isEmpty());
        fixture.settle();
        fixture.backend.afterRenewal = this::releaseUnnoticed;
        fixture.time.advance(fixture.backend.waiterTtl().dividedBy(3));

        assertThat(waiter.get(10, TimeUnit.SECONDS)).isNotNull();
    }

    private void releaseUnnoticed() {
        fixture.backend.afterAcquire = () -> {};
        fixture.backend.afterRenewal = () -> {};
        fixture.releaseUnnoticed(held);
    }

    private FutureTask<LockHandle> wait(LockRequest request) {
        return inAnotherThread(() -> fixture.engine.acquire(request));
    }
}
