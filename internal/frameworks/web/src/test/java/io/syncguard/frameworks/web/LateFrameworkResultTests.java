package io.syncguard.frameworks.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.stub.StreamObserver;
import io.syncguard.DistributedLock;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockManager;
import io.syncguard.autoconfigure.PostgresLockAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardAutoConfiguration;
import io.syncguard.testing.PostgresServer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.batch.core.BatchStatus;
import org.springframework.batch.core.job.JobExecution;
import org.springframework.batch.core.job.JobInstance;
import org.springframework.batch.core.job.parameters.JobParameters;
import org.springframework.batch.core.step.StepExecution;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.web.servlet.function.ServerResponse;

/** Results of frameworks whose work goes on when a locked method returns. */
@FrameworkTest
@Timeout(60)
class LateFrameworkResultTests {

    @Autowired
    private Open open;

    @Autowired
    private LockManager manager;

    @ParameterizedTest
    @ValueSource(classes = {Unary.class, GenericUnary.class, Upload.class})
    void an_observer_that_gets_the_answer_later_fails_the_start(Class<?> bean) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        SyncGuardAutoConfiguration.class,
                        PostgresLockAutoConfiguration.class,
                        AopAutoConfiguration.class))
                .withBean(DataSource.class, PostgresServer::newDatabase)
                .withBean(bean)
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(LockException.class)
                        .hasMessageContaining("io.grpc.stub.StreamObserver"));
    }

    @ParameterizedTest
    @EnumSource(names = {"STARTING", "STARTED", "STOPPING"})
    void an_execution_that_runs_fails_the_call(BatchStatus status) {
        assertRefused(job(status));
        assertRefused(step(status));
        assertRefused(List.of(job(status)));
        assertThatThrownBy(() -> open.later(job(status)).join()).hasCauseInstanceOf(LockException.class);
        assertThat(manager.isLocked("open")).isFalse();
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"STARTING", "STARTED", "STOPPING"})
    void an_execution_that_has_ended_does_not(BatchStatus status) {
        JobExecution execution = job(status);

        assertThat(open.run(execution)).isSameAs(execution);
        assertThat(open.any(step(status))).isNotNull();
    }

    @Test
    void an_answer_that_is_written_later_fails_the_call() {
        assertRefused(ServerResponse.sse(events -> {}));
        assertRefused(ServerResponse.async(new CompletableFuture<>()));
        assertThat(open.any(ServerResponse.ok().body("text"))).isNotNull();
    }

    private void assertRefused(Object late) {
        assertThatThrownBy(() -> open.any(late))
                .isInstanceOfSatisfying(
                        LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
    }

    private static JobExecution job(BatchStatus status) {
        JobExecution execution = new JobExecution(1L, new JobInstance(1L, "import"), new JobParameters());
        execution.setStatus(status);
        return execution;
    }

    private static StepExecution step(BatchStatus status) {
        StepExecution execution = new StepExecution(1L, "read", job(status));
        execution.setStatus(status);
        return execution;
    }

    static class Open {

        @DistributedLock(name = "open")
        public JobExecution run(JobExecution execution) {
            return execution;
        }

        @DistributedLock(name = "open")
        public Object any(Object result) {
            return result;
        }

        @DistributedLock(name = "open")
        public CompletableFuture<JobExecution> later(JobExecution execution) {
            return CompletableFuture.completedFuture(execution);
        }
    }

    static class Unary {

        @DistributedLock(name = "unary")
        public void reserve(String sku, StreamObserver<String> answer) {}
    }

    static class GenericUnary {

        @DistributedLock(name = "unary")
        public <T extends StreamObserver<String>> void reserve(String sku, T answer) {}
    }

    static class Upload {

        @DistributedLock(name = "upload")
        public StreamObserver<String> upload() {
            throw new UnsupportedOperationException();
        }
    }
}
