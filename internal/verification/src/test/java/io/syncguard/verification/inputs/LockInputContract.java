package io.syncguard.verification.inputs;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.leader.LeaderElection;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.CapturedLog;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Random calls of the API have documented answers only, on each store, and leave nothing behind. */
@Timeout(3600)
abstract class LockInputContract {

    private final InputSettings settings;

    LockInputContract(InputSettings settings) {
        this.settings = settings;
    }

    /** A store of its own. */
    abstract LockBackend open();

    @Test
    void every_answer_is_a_documented_one() {
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
                LockEngine engine = new LockEngine(open(), defaults, TransactionBoundary.NONE, List.of());
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
        System.out.println(getClass().getSimpleName() + " with " + settings.command() + ": " + answers.total()
                + " calls; " + answers.counts());
        assertThat(answers.violations()).as(settings.command()).isEmpty();
        assertThat(answers.counts())
                .containsKeys(
                        "tryExecute ran", "request INVALID_ARGUMENT", "acquire answered", "list INVALID_ARGUMENT");
    }
}
