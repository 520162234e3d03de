package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.syncguard.LockAdmin;
import io.syncguard.LockManager;
import io.syncguard.LockOperations;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.leader.LeaderElectedEvent;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderListener;
import io.syncguard.leader.LeaderOnly;
import io.syncguard.reactive.ReactiveLockTemplate;
import io.syncguard.testing.CapturedLog;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;

/** An application whose locks are switched off starts, whatever it injects. */
class DisabledAutoConfigurationTests {

    private final ApplicationContextRunner disabled =
            Applications.withoutBoot().withPropertyValues("syncguard.enabled=false");

    @Test
    void the_template_runs_bodies_without_locks() {
        disabled.withBean(Service.class).run(application -> {
            LockManager manager = application.getBean(LockManager.class);
            manager.acquire(LockRequest.of("order:42"));

            assertThat(application.getBean(Service.class).run()).isEqualTo("done");
            assertThat(application.getBean(LockTemplate.class).manager()).isSameAs(manager);
        });
    }

    @Test
    void the_reactive_template_runs_bodies_without_locks() {
        disabled.run(application -> assertThat(application
                        .getBean(ReactiveLockTemplate.class)
                        .mono("order:42", lock -> Mono.just("done"))
                        .block())
                .isEqualTo("done"));
    }

    @Test
    void the_log_says_so_once() {
        try (CapturedLog log = new CapturedLog(Level.INFO)) {
            disabled.withBean(Service.class)
                    .run(application -> application.getBean(Service.class).run());

            assertThat(log.messages())
                    .containsExactly(
                            "SyncGuard is disabled by syncguard.enabled=false: LockTemplate and annotated methods"
                                    + " run their bodies without locks, and each instance leads its elections");
        }
    }

    /** It has nobody to ask, so each instance leads: {@code @LeaderOnly} methods run everywhere, too. */
    @Test
    void each_instance_leads_its_elections() {
        List<Object> events = new CopyOnWriteArrayList<>();
        disabled.withPropertyValues("syncguard.leader.elections.settlement.ttl=10s")
                .withBean(LeaderListener.class, () -> new LeaderListener() {
                    @Override
                    public void elected(LeaderElectedEvent event) {
                        events.add(event.name());
                    }
                })
                .withBean(Dispatcher.class)
                .withBean(Settlement.class)
                .run(application -> {
                    assertThat(application).hasNotFailed();
                    Awaitility.await().until(() -> events.contains("settlement") && events.contains("dispatcher"));
                    LeaderElection election = application.getBean(LeaderElection.class);
                    assertThat(election.isLeader("settlement")).isTrue();
                    assertThat(election.leader("settlement")).isEmpty();
                    assertThat(application.getBean(Settlement.class).settle()).isEqualTo("done");
                    Awaitility.await().until(application.getBean(Dispatcher.class).runs::get);
                });
    }

    @Test
    void what_is_asked_about_locks_is_answered_as_if_there_were_none() {
        disabled.run(application -> {
            LockAdmin admin = application.getBean(LockAdmin.class);
            application.getBean(LockManager.class).acquire(LockRequest.of("order:42"));

            assertThat(admin.holders("order:42")).isEmpty();
            assertThat(admin.forceRelease("order:42", "a test").released()).isEmpty();
        });
    }

    @Test
    void each_backend_has_a_template_under_its_name() {
        disabled.withPropertyValues("syncguard.backend=postgres,redis")
                .withBean(TwoBackends.class)
                .run(application ->
                        assertThat(application.getBean(TwoBackends.class).run()).isEqualTo("done"));
    }

    @Test
    void a_manager_of_the_application_stays_the_only_one() {
        LockManager own = LockManager.withoutLocks();
        disabled.withBean(LockManager.class, () -> own)
                .run(application -> assertThat(
                                application.getBean(LockTemplate.class).manager())
                        .isSameAs(own));
    }

    record Service(LockOperations locks) {

        String run() {
            return locks.execute("order:42", lock -> "done");
        }
    }

    static class Dispatcher {

        private final AtomicBoolean runs = new AtomicBoolean();

        Dispatcher(LeaderElection election) {
            election.join("dispatcher").runWhileLeader(term -> runs.set(term.isLeader()));
        }
    }

    static class Settlement {

        @LeaderOnly("settlement")
        String settle() {
            return "done";
        }
    }

    record TwoBackends(
            LockTemplate primary,
            @Qualifier("postgres") LockTemplate postgres,
            @Qualifier("redis") LockTemplate redis,
            @Qualifier("redis") LockManager manager,
            @Qualifier("redis") LockAdmin admin) {

        String run() {
            return primary.<String, RuntimeException>execute(
                    "a", a -> postgres.<String, RuntimeException>execute("a", b -> redis.execute("a", c -> "done")));
        }
    }
}
