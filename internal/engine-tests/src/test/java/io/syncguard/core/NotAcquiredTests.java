package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.syncguard.LockHandle;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A refused caller learns who holds the lock, since when, and how long it waited. */
class NotAcquiredTests {

    private static final String KEY = "order:42";
    private static final Duration LONG = Duration.ofHours(1);
    private static final LockRequest AT_ONCE = LockRequest.of(KEY).waitTime(Duration.ZERO);

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;

    @Test
    void by_one_holder() {
        String granted = heldBy("order-service@7@host", LONG).toString();

        LockNotAcquiredException refusal = refusal(AT_ONCE);

        assertThat(refusal.key()).isEqualTo(KEY);
        assertThat(refusal.owner()).isEqualTo("order-service@7@host");
        assertThat(refusal.heldSince()).isEqualTo(granted);
        assertThat(refusal.waited()).isZero();
        assertThat(refusal)
                .hasMessage(
                        "Lock 'order:42' is held by order-service@7@host since " + granted + "; gave up after 0 ms");
        assertThat(fixture.backend.acquires).as("round trips").hasValue(1);
    }

    @Test
    void by_its_own_application() throws Exception {
        LockHandle held = locks.acquire(LockRequest.of(KEY));

        FutureTask<LockHandle> other = new FutureTask<>(() -> locks.acquire(AT_ONCE));
        new Thread(other).start();

        assertThat(refusal(other))
                .hasMessageEndingWith("; gave up after 0 ms. This application itself holds it: in another thread, or"
                        + " with a handle that was not closed. A nested call on another thread joins the lock if"
                        + " LockHandle.bind runs it");
        held.close();
    }

    @Test
    void by_whoever_holds_it_when_the_wait_ends() throws Exception {
        AcquireRequest first = fixture.holdElsewhere(KEY, LONG);
        StoreCalls elsewhere = new StoreCalls(new InMemoryLockBackend(fixture.store));
        AcquireRequest second =
                Requests.exclusive(KEY, new LockIds().next(), LONG, "second").waitingAs(0);
        elsewhere.acquire(second);
        FutureTask<LockHandle> waiter = fixture.startWaiting(LockRequest.of(KEY).waitTime(Duration.ofSeconds(5)));
        fixture.settle();
        fixture.time.advance(Duration.ofSeconds(2));
        fixture.releaseElsewhere(first);
        AcquireResult.Granted granted = (AcquireResult.Granted) elsewhere.acquire(second);

        fixture.time.advance(Duration.ofSeconds(3));

        LockNotAcquiredException refusal = refusal(waiter);
        assertThat(refusal.owner()).isEqualTo("second");
        assertThat(refusal.heldSince()).isEqualTo(granted.acquiredAt());
        assertThat(refusal.waited()).isEqualTo(Duration.ofSeconds(5));
        assertThat(refusal).hasMessageEndingWith("; gave up after 5000 ms");
    }

    @Test
    void after_an_answer_that_came_long_after_the_deadline() {
        heldBy("slow", LONG);
        fixture.backend.afterAcquire = () -> fixture.time.advance(Duration.ofSeconds(6));

        LockNotAcquiredException refusal = refusal(LockRequest.of(KEY).waitTime(Duration.ofSeconds(5)));

        assertThat(refusal.owner()).isEqualTo("slow");
        assertThat(refusal.waited()).isEqualTo(Duration.ofSeconds(6));
    }

    @Test
    void by_several_readers() {
        shared("first", Duration.ofMinutes(1));
        shared("last", Duration.ofMinutes(3));
        shared("second", Duration.ofMinutes(2));

        LockNotAcquiredException refusal = refusal(AT_ONCE);

        assertThat(refusal.owner()).as("whose lease ends last").isEqualTo("last");
        assertThat(refusal)
                .hasMessage("Lock 'order:42' is held by last since " + refusal.heldSince()
                        + ", and by others; gave up after 0 ms");
    }

    @Test
    void by_nobody_who_is_in_the_way_of_a_reader_but_by_a_writer_in_front() {
        shared("reader", LONG);
        fixture.queueElsewhere(KEY);

        LockNotAcquiredException refusal = refusal(AT_ONCE.shared());

        assertThat(refusal.owner()).isNull();
        assertThat(refusal.heldSince()).isNull();
        assertThat(refusal).hasMessage("Others wait for lock 'order:42' in front of this request; gave up after 0 ms");
    }

    @Test
    void by_somebody_without_a_label() {
        Instant granted = heldBy("", LONG);

        LockNotAcquiredException refusal = refusal(AT_ONCE);

        assertThat(refusal.owner()).isNull();
        assertThat(refusal.heldSince()).isEqualTo(granted);
        assertThat(refusal).hasMessage("Lock 'order:42' is held since " + granted + "; gave up after 0 ms");
    }

    private Instant heldBy(String owner, Duration ttl) {
        AcquireRequest request = Requests.exclusive(KEY, new LockIds().next(), ttl, owner);
        return ((AcquireResult.Granted) new StoreCalls(new InMemoryLockBackend(fixture.store)).acquire(request))
                .acquiredAt();
    }

    private void shared(String owner, Duration ttl) {
        new StoreCalls(new InMemoryLockBackend(fixture.store))
                .acquire(Requests.shared(KEY, new LockIds().next(), ttl, owner));
    }

    private LockNotAcquiredException refusal(LockRequest request) {
        return catchThrowableOfType(LockNotAcquiredException.class, () -> locks.acquire(request));
    }

    private static LockNotAcquiredException refusal(FutureTask<LockHandle> waiter) {
        eventually().until(waiter::isDone);
        return (LockNotAcquiredException)
                catchThrowableOfType(ExecutionException.class, waiter::get).getCause();
    }
}
