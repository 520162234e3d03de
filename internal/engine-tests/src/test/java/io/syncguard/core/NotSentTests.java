package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockQuery;
import io.syncguard.LockRequest;
import io.syncguard.LockUnavailableException;
import io.syncguard.spi.RequestNotSentException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The exception between store and engine for a request that was not sent reaches no caller and no operator. */
class NotSentTests {

    private static final LockRequest ORDER = LockRequest.of("order:42");
    private static final String LOCK_ID = new LockIds().next();

    @RegisterExtension
    private final EngineFixture fixture = new EngineFixture();

    private final LockEngine locks = fixture.engine;

    @ParameterizedTest
    @EnumSource(
            value = LockErrorCode.class,
            names = {"SERVICE_UNAVAILABLE", "AUTH_FAILED"})
    void callers_and_operators_get_one_that_they_know(LockErrorCode code) {
        LockHandle held = locks.acquire(LockRequest.of("held"));
        Runnable failing = () -> {
            throw new RequestNotSentException(InterceptedBackend.failure(code));
        };
        fixture.backend.beforeAcquire = failing;
        fixture.backend.beforeExtend = failing;
        fixture.backend.beforeRelease = failing;
        fixture.backend.beforeLookup = failing;
        Map<String, Runnable> calls = new TreeMap<>();
        calls.put("acquire", () -> locks.acquire(ORDER));
        calls.put("acquire several", () -> locks.acquire(List.of(ORDER, LockRequest.of("other"))));
        calls.put("tryAcquire", () -> locks.tryAcquire(ORDER));
        calls.put("isLocked", () -> locks.isLocked("order:42"));
        calls.put("owns", () -> locks.owns(LOCK_ID));
        calls.put("extend by lock id", () -> locks.extend(LOCK_ID, EngineFixture.TTL));
        calls.put("extend", () -> held.extend(EngineFixture.TTL));
        calls.put("rotateFence", held::rotateFence);
        calls.put("holders", () -> locks.admin().holders("order:42"));
        calls.put("list", () -> locks.admin().list(LockQuery.all()));
        calls.put("summary", locks.admin()::summary);
        calls.put("status", () -> locks.admin().status("order:42"));
        calls.put("health", locks.diagnostics()::checkStore);

        calls.forEach((call, run) -> assertThat(catchThrowable(run::run))
                .as(call)
                .isNotNull()
                .satisfies(thrown -> assertThat(thrown.getClass())
                        .isIn(LockBackendException.class, LockUnavailableException.class)));
    }

    @Test
    void nor_does_it_reach_who_asks_why_a_lock_was_lost() {
        LockHandle lock = locks.acquire(ORDER);
        fixture.backend.beforeExtend = () -> {
            throw new RequestNotSentException(InterceptedBackend.failure(LockErrorCode.RATE_LIMITED));
        };
        fixture.advanceUntil(() -> !lock.isHeld());

        assertThat(catchThrowable(lock::close).getSuppressed())
                .isNotEmpty()
                .allSatisfy(each -> assertThat(each).isExactlyInstanceOf(LockBackendException.class));
    }
}
