package io.syncguard.verification.inputs;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.leader.LeaderElection;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.redis.RedisLockBackend;
import io.syncguard.redis.RedisSettings;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Random calls of the API have documented answers only, on each store, and leave nothing behind. */
@Timeout(3600)
class LockInputTests {

    /** A store, with the calls of a build. */
    private enum Store {
        MEMORY(5_000, 88, InMemoryLockBackend::new),
        POSTGRES(1_500, 3, () -> ApplicationBackend.on(PostgresServer.newDatabaseUrl())),
        REDIS(
                3_000,
                5,
                () -> new RedisLockBackend(
                        RedisServer.connections(RedisServer.url()),
                        new RedisSettings(
                                RedisServer.newPrefix() + ":", Duration.ofSeconds(5), RedisSettings.WAITER_TTL)));

        private final InputSettings settings;
        private final Supplier<LockBackend> opened;

        Store(int calls, int percent, Supplier<LockBackend> opened) {
            this.settings = InputSettings.of(calls, percent);
            this.opened = opened;
        }
    }

    @ParameterizedTest
    @EnumSource
    void every_answer_is_a_documented_one(Store store) {
        InputSettings settings = store.settings;
        Answers answers = new Answers();
        EngineSettings defaults = new EngineSettings(
                "test",
                Duration.ofSeconds(30),
                Duration.ofSeconds(5),
                Duration.ofMillis(20),
                Duration.ofMillis(500),
                Duration.ZERO,
                Duration.ZERO,
                Map.of());
        try (CapturedLog log = new CapturedLog(Level.DEBUG);
                LockEngine engine = new LockEngine(store.opened.get(), defaults, TransactionBoundary.NONE, List.of());
                LeaderElection election = new LeaderElection(engine, "test", Duration.ZERO)) {
            LockCalls calls = new LockCalls(new Inputs(settings.seed()), answers, engine, election);
            while (answers.total() < settings.calls()) {
                calls.makeOne();
                log.messages().forEach(message -> answers.requireOneLine("log", message));
                log.messages().clear();
            }

            // A lease that lapsed before its release keeps the key for the tolerance.
            Awaitility.await("what is locked, though nobody holds it: with " + settings.command())
                    .atMost(Duration.ofSeconds(10))
                    .untilAsserted(() -> assertThat(calls.stillLocked()).isEmpty());
        }
        System.out.println(
                store + " with " + settings.command() + ": " + answers.total() + " calls; " + answers.counts());
        assertThat(answers.violations()).as(settings.command()).isEmpty();
        assertThat(answers.counts())
                .containsKeys(
                        "tryExecute ran", "request INVALID_ARGUMENT", "acquire answered", "list INVALID_ARGUMENT");
    }
}
