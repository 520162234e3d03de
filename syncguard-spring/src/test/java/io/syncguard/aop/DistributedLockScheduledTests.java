package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.DistributedLock;
import io.syncguard.LockEvent;
import io.syncguard.LockListener;
import io.syncguard.OnContention;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * Scheduled jobs that run in several processes.
 */
@Timeout(60)
class DistributedLockScheduledTests {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    @Test
    void a_job_of_two_processes_runs_in_one_of_them_at_a_time() {
        Report report = new Report();
        ApplicationContextRunner process =
                scheduling().withUserConfiguration(Job.class).withBean(Report.class, () -> report);

        process.run(one -> process.run(two -> {
            await().atMost(LIMIT).until(() -> report.runs.get() >= 5);
            report.isComplete = true;
            assertThat(report.most).hasValue(1);
        }));
    }

    @Test
    void a_job_that_is_kept_for_its_period_runs_once_of_all_processes() {
        Report report = new Report();
        ApplicationContextRunner process =
                scheduling().withUserConfiguration(KeptJob.class).withBean(Report.class, () -> report);

        process.run(one -> process.run(two -> {
            await().atMost(LIMIT).until(() -> report.refusals.get() >= 10);
            assertThat(report.runs).hasValue(1);
        }));
    }

    private ApplicationContextRunner scheduling() {
        return application.with(Tasks.class);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Tasks {}

    /** What all processes write to. */
    static class Report implements LockListener {

        private final AtomicInteger running = new AtomicInteger();
        private final AtomicInteger most = new AtomicInteger();
        private final AtomicInteger runs = new AtomicInteger();
        private final AtomicInteger refusals = new AtomicInteger();
        private volatile boolean isComplete;

        @Override
        public void refused(LockEvent event) {
            refusals.incrementAndGet();
        }

        /** Runs until another process has been refused. */
        void run() {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            int before = refusals.get();
            await().atMost(LIMIT).pollInterval(Duration.ofMillis(1)).until(() -> isComplete || refusals.get() > before);
            running.decrementAndGet();
            runs.incrementAndGet();
        }

        void runAtOnce() {
            runs.incrementAndGet();
        }
    }

    static class Job {

        private final Report report;

        Job(Report report) {
            this.report = report;
        }

        @Scheduled(fixedDelay = 2)
        @DistributedLock(name = "job", onContention = OnContention.SKIP)
        public void run() {
            report.run();
        }
    }

    static class KeptJob {

        private final Report report;

        KeptJob(Report report) {
            this.report = report;
        }

        @Scheduled(fixedDelay = 5)
        @DistributedLock(name = "kept", onContention = OnContention.SKIP, holdAtLeast = "1m")
        public void run() {
            report.runAtOnce();
        }
    }
}
