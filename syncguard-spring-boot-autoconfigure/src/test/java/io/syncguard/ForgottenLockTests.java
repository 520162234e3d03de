package io.syncguard;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.EngineFixture;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.integration.SyncGuardLockRegistry;
import io.syncguard.interception.BodyRunner;
import io.syncguard.reactive.ReactiveLockTemplate;
import io.syncguard.shedlock.SyncGuardLockProvider;
import io.syncguard.testing.CapturedLog;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import net.javacrumbs.shedlock.core.LockConfiguration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/** A lock that its application forgot is reported with the place where it was acquired, whatever the way to it was. */
class ForgottenLockTests {

    private static final Duration THRESHOLD = Duration.ofMinutes(10);

    private static final Duration TTL = Duration.ofHours(1);

    private static final LockRequest ORDER = LockRequest.of("order:42").ttl(TTL);

    enum WayToForget {
        FUTURE(locks -> {
            LockHandle lock = locks.acquire(ORDER);
            Callable<Object> neverDone = CompletableFuture::new;
            try {
                new BodyRunner("futures").run(lock.bind(neverDone), end -> lock.close(), lock::onLost);
            } catch (Exception ex) {
                throw new AssertionError(ex);
            }
        }),
        SHEDLOCK(locks -> new SyncGuardLockProvider(locks)
                .lock(new LockConfiguration(Instant.now(), "order:42", TTL, Duration.ZERO))),
        REGISTRY(locks ->
                new SyncGuardLockRegistry(locks, "order", TTL).obtain("42").lock()),
        PUBLISHER(locks -> new ReactiveLockTemplate(locks, Runnable::run)
                .mono(ORDER, lock -> Mono.never())
                .subscribe());

        private final Consumer<LockManager> way;

        WayToForget(Consumer<LockManager> way) {
            this.way = way;
        }
    }

    @ParameterizedTest
    @EnumSource
    void it_is_reported_with_the_place_of_its_acquisition(WayToForget way) {
        EngineSettings defaults = DefaultSettings.of("test");
        EngineSettings settings = new EngineSettings(
                defaults.owner(),
                defaults.ttl(),
                defaults.waitTime(),
                defaults.firstRetry(),
                defaults.longestRetry(),
                defaults.shutdownTimeout(),
                THRESHOLD,
                Map.of());
        try (EngineFixture fixture = new EngineFixture(settings, TransactionBoundary.NONE);
                CapturedLog log = new CapturedLog(Level.INFO)) {
            way.way.accept(fixture.engine);

            // One that a body used is looked at again.
            for (int looks = 0; looks < 2; looks++) {
                fixture.time.advance(THRESHOLD);
                fixture.settle();
            }

            eventually().until(() -> fixture.events.contains("leaked"));
            assertThat(log.messages()).singleElement().asString().startsWith("Lock 'order:42' has been held for ");
            assertThat(log.stackTraces()).singleElement().asString().contains("ForgottenLockTests.java");
        }
    }
}
