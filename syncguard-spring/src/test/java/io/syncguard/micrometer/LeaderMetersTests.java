package io.syncguard.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.syncguard.LockManager;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderMember;
import io.syncguard.testing.LogbackLogger;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The meters of an election that a member leaves and joins again. */
class LeaderMetersTests {

    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final LeaderElection election =
            new LeaderElection(LockManager.withoutLocks(), "here", Duration.ofSeconds(5));

    private final Logger micrometer = LogbackLogger.named("io.micrometer");
    private final ListAppender<ILoggingEvent> warnings = new ListAppender<>();

    @BeforeEach
    void start() {
        warnings.start();
        micrometer.addAppender(warnings);
        election.addListener(new LeaderMeters(registry));
        election.start();
    }

    @AfterEach
    void stop() {
        election.close();
        micrometer.detachAppender(warnings);
    }

    @Test
    void it_has_one_gauge_which_follows_the_member() {
        LeaderMember member = election.join("settlement");
        awaitGauge(1);
        member.leave();
        awaitGauge(0);

        election.join("settlement");

        awaitGauge(1);
        Awaitility.await()
                .until(() -> registry.counter("syncguard.leader.elected", "name", "settlement")
                                .count()
                        == 2);
        assertThat(warnings.list).isEmpty();
    }

    private void awaitGauge(double value) {
        Awaitility.await()
                .ignoreExceptions()
                .until(() -> registry.get("syncguard.leader.active")
                                .tag("name", "settlement")
                                .gauge()
                                .value()
                        == value);
    }
}
