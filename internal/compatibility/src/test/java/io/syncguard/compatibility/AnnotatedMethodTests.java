package io.syncguard.compatibility;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockSetupException;
import io.syncguard.scheduling.ScheduledLock;
import io.syncguard.autoconfigure.SyncGuardAutoConfiguration;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.LockBackend;
import jakarta.annotation.PostConstruct;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** What the start finds in annotated methods. */
@ExtendWith(OutputCaptureExtension.class)
class AnnotatedMethodTests {

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(SyncGuardAutoConfiguration.class))
            .withBean(LockBackend.class, InMemoryLockBackend::new);

    @Test
    void a_scheduled_method_that_each_instance_runs_is_named(CapturedOutput output) {
        application.withUserConfiguration(Jobs.class).run(context -> assertThat(
                        context.getBean(Jobs.class).report())
                .isEqualTo("report"));

        assertThat(output.getAll().split("each instance runs it", -1)).hasSize(2);
        assertThat(output).contains("Jobs.refresh: each instance runs it");
    }

    @Test
    void a_method_that_spring_calls_itself_is_refused() {
        application.withUserConfiguration(Init.class).run(context -> assertThat(context.getStartupFailure())
                .rootCause()
                .isInstanceOf(LockSetupException.class)
                .hasMessageContaining("@PostConstruct"));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Jobs {

        @Scheduled(cron = "-")
        @DistributedLock("refresh")
        public void refresh() {}

        @Scheduled(cron = "-")
        @ScheduledLock(name = "report", holdAtLeast = "1s")
        public String report() {
            return LockHandle.current().orElseThrow().key();
        }
    }

    static class Init {

        @PostConstruct
        @DistributedLock("order")
        public void init() {}
    }
}
