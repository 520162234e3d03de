package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.AbstractDurationAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** One key of one store, and two processes that want it. A backend's test gives the store, empty for each test. */
public abstract class ContractFixture {

    protected static final String KEY = "order:42";
    protected static final Duration TTL = Duration.ofMinutes(10);
    protected static final Duration TOLERANCE = Duration.ofMillis(LockBackend.TOLERANCE_MILLIS);

    private final LockIds lockIds = new LockIds();
    private final AtomicLong waiters = new AtomicLong();
    private final List<LockBackend> opened = new ArrayList<>();

    /** When the test began, to know how much of a time may have passed. */
    private final long began = System.nanoTime();

    private ContractStore store;
    private LockBackend backend;
    private LockBackend elsewhere;

    protected abstract ContractStore emptyStore();

    @BeforeEach
    void openBackends() {
        store = emptyStore();
        backend = open();
        elsewhere = open();
    }

    @AfterEach
    void closeBackends() {
        opened.forEach(LockBackend::close);
    }

    protected final ContractStore store() {
        return store;
    }

    protected final LockBackend backend() {
        return backend;
    }

    /** The backend of another process. */
    protected final LockBackend elsewhere() {
        return elsewhere;
    }

    protected final LockBackend open() {
        LockBackend another = store.newBackend();
        opened.add(another);
        return another;
    }

    protected final Claim writer() {
        return claim(KEY, LockMode.EXCLUSIVE, TTL);
    }

    protected final Claim writer(Duration ttl) {
        return claim(KEY, LockMode.EXCLUSIVE, ttl);
    }

    protected final Claim reader() {
        return claim(KEY, LockMode.SHARED, TTL);
    }

    protected final Claim reader(Duration ttl) {
        return claim(KEY, LockMode.SHARED, ttl);
    }

    protected final Claim claim(String key, LockMode mode, Duration ttl) {
        return new Claim(key, mode, lockIds.next(), ttl, "test", false, false, null);
    }

    protected final String strangersLockId() {
        return lockIds.next();
    }

    /** The same by somebody who waits. */
    protected final Claim waiting(Claim claim) {
        return claim.waitingAs(waiters.incrementAndGet());
    }

    protected final Claim waitingWriter() {
        return waiting(writer());
    }

    protected final Claim waitingReader() {
        return waiting(reader());
    }

    /** The last try of somebody who has waited. */
    protected static Claim lastTry(Claim claim) {
        return new Claim(claim.key(), claim.mode(), claim.lockId(), claim.ttl(), claim.owner(), false, false, null);
    }

    protected final Attempt.Grant granted(Claim claim) {
        return granted(backend, claim);
    }

    protected final Attempt.Grant granted(LockBackend process, Claim claim) {
        Attempt attempt = process.acquire(claim);
        assertThat(attempt).isInstanceOf(Attempt.Grant.class);
        return (Attempt.Grant) attempt;
    }

    protected final Claim held(Claim claim) {
        granted(claim);
        return claim;
    }

    protected final Attempt.Refusal refused(Claim claim) {
        Attempt attempt = backend.acquire(claim);
        assertThat(attempt).isInstanceOf(Attempt.Refusal.class);
        return (Attempt.Refusal) attempt;
    }

    protected final Attempt.Queued queued(Claim claim) {
        return queued(backend, claim);
    }

    protected final Attempt.Queued queued(LockBackend process, Claim claim) {
        Attempt attempt = process.acquire(claim);
        assertThat(attempt).isInstanceOf(Attempt.Queued.class);
        return (Attempt.Queued) attempt;
    }

    /** Puts a writer into the queue. */
    protected final Claim queuedWriter() {
        Claim claim = waitingWriter();
        queued(claim);
        return claim;
    }

    /** Puts a reader into the queue. */
    protected final Claim queuedReader() {
        Claim claim = waitingReader();
        queued(claim);
        return claim;
    }

    protected final void release(Claim claim) {
        assertThat(backend.release(claim.lockId())).isEqualTo(ReleaseOutcome.RELEASED);
    }

    protected final void leave(Claim claim) {
        assertThat(backend.release(claim.lockId())).isEqualTo(ReleaseOutcome.LEFT);
    }

    protected final void expireLease(Claim claim) {
        store.expireLease(claim.lockId());
    }

    protected final void expirePlace(Claim claim) {
        store.endPlaceIn(claim.lockId(), Duration.ZERO);
    }

    protected final ExtendOutcome extend(Claim claim, Duration ttl) {
        return backend.extend(List.of(new Extension(claim.lockId(), ttl))).get(0);
    }

    protected final ExtendOutcome rotate(Claim claim, Duration ttl) {
        return backend.rotate(new Extension(claim.lockId(), ttl));
    }

    protected final Duration keepPlace(Claim claim) {
        return backend.keepPlaces(List.of(claim.lockId())).get(0);
    }

    /** Whether it was so much at some moment of this test. */
    protected final void assertLeft(Duration left, Duration expected) {
        AbstractDurationAssert<?> assertion = assertThat(left);
        assertion.isBetween(expected.minusNanos(System.nanoTime() - began).minusMillis(2), expected);
    }
}
