package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.Durations;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** The server counts exactly the duration that a caller passes, or the library refuses it before it sends anything. */
class DurationPropertyTests {

    private static final AtomicInteger NUMBER = new AtomicInteger();

    private static CountedPostgres postgres;
    private static StoreCalls backend;
    private static LockEngine locks;

    @BeforeContainer
    static void open() {
        postgres = CountedPostgres.withSchema();
        backend = postgres.backend(PostgresTables.DEFAULT);
        locks = postgres.locks();
    }

    @AfterContainer
    static void close() {
        locks.close();
        postgres.close();
    }

    @Property
    void a_ttl_is_a_whole_number_of_milliseconds_up_to_a_year_wherever_it_is_asked_for(
            @ForAll(supplier = Durations.Any.class) Duration ttl) {
        LockRequest request = LockRequest.of("ttl");
        if (Durations.isLegalTtl(ttl)) {
            assertThat(request.ttl(ttl).ttl()).isEqualTo(ttl);
            assertThat(settings(ttl, Duration.ZERO).ttl()).isEqualTo(ttl);
            return;
        }
        try (LockHandle lock = locks.acquire(request.noHeartbeat())) {
            Instant end = lock.expiresAt();

            for (ThrowingCallable use : List.<ThrowingCallable>of(
                    () -> request.ttl(ttl),
                    () -> settings(ttl, Duration.ZERO),
                    () -> lock.extend(ttl),
                    () -> locks.extend(lock.lockId(), ttl),
                    () -> locks.extend("somebody_elses_lock_id", ttl))) {
                assertRefused(use, "ttl");
            }

            assertThat(lock.isHeld()).isTrue();
            assertThat(lock.expiresAt()).isEqualTo(end);
        }
    }

    @Property
    void other_times_go_from_zero_to_a_year_wherever_they_are_asked_for(
            @ForAll(supplier = Durations.Any.class) Duration time) {
        LockRequest request = LockRequest.of("time");
        if (Durations.isLegalTime(time)) {
            assertThat(request.waitTime(time).waitTime()).isEqualTo(time);
            assertThat(request.holdAtLeast(time).holdAtLeast()).isEqualTo(time);
            assertThat(settings(Duration.ofSeconds(1), time).waitTime()).isEqualTo(time);
        } else {
            assertRefused(() -> request.waitTime(time), "wait time");
            assertRefused(() -> request.holdAtLeast(time), "hold at least");
            assertRefused(() -> settings(Duration.ofSeconds(1), time), "syncguard.wait-time");
        }
    }

    @Property
    void a_free_key_is_granted_whatever_the_wait_time(@ForAll("times") Duration waitTime) {
        try (LockHandle lock = locks.acquire(LockRequest.of("wait").waitTime(waitTime))) {
            assertThat(lock.isHeld()).isTrue();
        }
    }

    @Property
    void a_lease_lasts_its_ttl_to_the_millisecond(@ForAll(supplier = Durations.Ttl.class) Duration ttl) {
        Instant before = now();
        AcquireResult attempt = answer(() -> backend.acquire(request(ttl)));
        Instant after = now();

        assertThat(attempt).isInstanceOfSatisfying(AcquireResult.Granted.class, grant -> {
            assertThat(grant.acquiredAt()).isBetween(before, after);
            assertThat(grant.expiresAt()).isEqualTo(grant.acquiredAt().plus(ttl));
        });
        assertThat(storedEnd()).isEqualTo(((AcquireResult.Granted) attempt).expiresAt());
    }

    @Property
    void an_extension_ends_one_ttl_after_the_servers_now(@ForAll(supplier = Durations.Ttl.class) Duration ttl) {
        AcquireRequest request = request(Duration.ofHours(1));
        backend.acquire(request);

        Instant before = now();
        ExtendResult outcome = answer(() -> backend.extendAll(List.of(Requests.extension(request.lockId(), ttl)))
                .get(0));
        Instant after = now();

        assertThat(outcome)
                .isInstanceOfSatisfying(
                        ExtendResult.Extended.class,
                        extended -> assertThat(extended.expiresAt())
                                .isBetween(before.plus(ttl), after.plus(ttl))
                                .isEqualTo(storedEnd()));
    }

    @Property
    void an_extension_by_its_holder_or_by_lock_id_ends_one_ttl_after_the_servers_now(
            @ForAll("ttlsFromAMinute") Duration ttl) {
        try (LockEngine elsewhere = postgres.locks();
                LockHandle lock = locks.acquire(LockRequest.of("extended"))) {
            for (Supplier<Instant> extension : List.<Supplier<Instant>>of(
                    () -> lock.extend(ttl) ? lock.expiresAt() : Instant.MIN,
                    () -> locks.extend(lock.lockId(), ttl).orElseThrow(),
                    () -> elsewhere.extend(lock.lockId(), ttl).orElseThrow())) {
                Instant before = now();
                Instant end = extension.get();
                assertThat(end).isBetween(before.plus(ttl), now().plus(ttl));
            }
        }
    }

    /** To the millisecond, rounded up. */
    @Property
    void a_lock_that_is_given_back_early_stays_taken_for_the_rest_of_its_least_time(
            @ForAll("timesFromAMinute") Duration least) {
        String key = "kept " + NUMBER.incrementAndGet();
        LockHandle lock = locks.acquire(LockRequest.of(key).holdAtLeast(least));
        assertThat(lock.release()).isTrue();

        Duration tolerance = Duration.ofMillis(LockBackend.TOLERANCE_MILLIS);
        assertThat(locks.admin().lookup(key))
                .hasValueSatisfying(info -> assertThat(Duration.between(
                                info.acquiredAt(), info.expiresAt().plus(tolerance)))
                        .isBetween(least, least.plusMillis(1)));
    }

    @Provide
    Arbitrary<Duration> times() {
        return new Durations.Any().get().filter(Durations::isLegalTime);
    }

    @Provide
    Arbitrary<Duration> timesFromAMinute() {
        return times().filter(time -> time.toMinutes() > 0);
    }

    @Provide
    Arbitrary<Duration> ttlsFromAMinute() {
        return new Durations.Ttl().get().filter(ttl -> ttl.toMinutes() > 0);
    }

    private static AcquireRequest request(Duration ttl) {
        int number = NUMBER.incrementAndGet();
        return Requests.exclusive("key " + number, String.format(Locale.ROOT, "%022d", number), ttl, "test");
    }

    /** Runs a call with a short ttl, which leaves the server little time to answer: a late answer proves nothing. */
    private static <T> T answer(Supplier<T> operation) {
        try {
            return operation.get();
        } catch (LockBackendException ex) {
            Assume.that(ex.code() != LockErrorCode.NETWORK_TIMEOUT);
            throw ex;
        }
    }

    /** The server's clock, read without the function of the script. */
    private static Instant now() {
        return Instant.ofEpochMilli(postgres.jdbc.queryForObject(
                "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint", Long.class));
    }

    private static Instant storedEnd() {
        return Instant.ofEpochMilli(postgres.jdbc.queryForObject(
                "SELECT expires_at_ms FROM syncguard_locks WHERE key = ?", Long.class, "key " + NUMBER.get()));
    }

    private static EngineSettings settings(Duration ttl, Duration waitTime) {
        return new EngineSettings(
                "test",
                ttl,
                waitTime,
                Duration.ofMillis(1),
                Duration.ofMillis(1),
                Duration.ofMillis(1),
                Duration.ZERO,
                Map.of());
    }

    private static void assertRefused(ThrowingCallable use, String part) {
        long before = postgres.connections.asked();
        Throwable failure = catchThrowable(use);
        assertThat(postgres.connections.asked()).isEqualTo(before);
        assertThat(failure)
                .isInstanceOf(LockException.class)
                .isNotInstanceOf(LockBackendException.class)
                .hasMessageContainingAll(part, "has to be");
        assertThat(((LockException) failure).code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT);
    }
}
