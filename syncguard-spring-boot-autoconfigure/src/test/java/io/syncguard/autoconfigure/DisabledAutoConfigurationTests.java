package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.syncguard.LockManager;
import io.syncguard.LockOperations;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.reactive.ReactiveLockTemplate;
import io.syncguard.testing.CapturedLog;
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
                                    + " run their bodies without locks");
        }
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

    record TwoBackends(
            LockTemplate primary,
            @Qualifier("postgres") LockTemplate postgres,
            @Qualifier("redis") LockTemplate redis,
            @Qualifier("redis") LockManager manager) {

        String run() {
            return primary.<String, RuntimeException>execute(
                    "a", a -> postgres.<String, RuntimeException>execute("a", b -> redis.execute("a", c -> "done")));
        }
    }
}
