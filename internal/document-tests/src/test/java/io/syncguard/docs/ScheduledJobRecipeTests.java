package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.syncguard.LockManager;
import io.syncguard.LockStatus;
import io.syncguard.scheduling.ScheduledLock;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.annotation.Transactional;

/** The scheduled jobs of docs/jobs.md, compiled and run by two instances. */
@Timeout(60)
class ScheduledJobRecipeTests {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private static final String SCHEMA = "CREATE TABLE report (instance TEXT NOT NULL);"
            + " CREATE TABLE invoice_run (day DATE PRIMARY KEY);"
            + " CREATE TABLE invoice (day DATE NOT NULL, instance TEXT NOT NULL)";

    /** In the tests that run the jobs themselves, the schedules of the jobs never start them. */
    private final RecipeInstances instances = instances("-", "-");

    @Test
    void each_instance_has_the_schedule_and_one_of_them_runs_the_job() {
        instances("* * * * * *", "-")
                .run((one, two) -> await().atMost(LIMIT).untilAsserted(() -> {
                    assertThat(skipped(one) + skipped(two)).isGreaterThanOrEqualTo(3);
                    assertThat(runs(one) + runs(two)).isEqualTo(1);
                }));
    }

    @Test
    void an_instance_whose_clock_is_late_skips_the_job_and_both_run_it_at_the_next_interval() {
        instances.run((one, two) -> {
            one.getBean(ReportJob.class).run();
            two.getBean(ReportJob.class).run();
            assertThat(instances.count("report")).isEqualTo(1);

            LockStatus status = two.getBean(LockManager.class)
                    .admin()
                    .status("daily-report")
                    .orElseThrow();
            assertThat(status.holders()).singleElement().satisfies(holder -> {
                assertThat(holder.owner()).isEqualTo("one");
                assertThat(Duration.between(holder.acquiredAt(), holder.expiresAt()))
                        .as("the key is free one second after that")
                        .isEqualTo(Duration.ofSeconds(59));
            });

            instances.endLease("daily-report");
            two.getBean(ReportJob.class).run();
            assertThat(instances.count("report")).isEqualTo(2);
        });
    }

    @Test
    void a_job_that_outlives_its_interval_goes_on_and_the_next_run_is_skipped() {
        instances.run((one, two) -> {
            Work work = one.getBean(Work.class).blocked();
            FutureTask<?> longRun = start(() -> one.getBean(ReportJob.class).run());
            await().atMost(LIMIT).until(work::isRunning);

            two.getBean(ReportJob.class).run();
            assertThat(skipped(two)).isEqualTo(1);

            work.unblock();
            longRun.get(20, TimeUnit.SECONDS);
            assertThat(instances.count("report")).isEqualTo(1);
        });
    }

    @Test
    void a_recorded_job_is_done_once_a_day_however_often_it_starts() {
        instances.run((one, two) -> {
            one.getBean(InvoiceJob.class).run();
            two.getBean(InvoiceJob.class).run();
            one.getBean(InvoiceJob.class).run();

            assertThat(skipped(one) + skipped(two)).as("the lock was free").isZero();
            assertThat(instances.count("invoice")).isEqualTo(1);
        });
    }

    @Test
    void the_alert_finds_the_row_of_a_day_that_is_done() {
        String alert = DocumentBlock.in("sql").stream()
                .filter(block -> block.page().equals("docs/jobs.md"))
                .findFirst()
                .orElseThrow()
                .text();
        instances.run((one, two) -> {
            assertThat(instances.database.queryForList(alert)).isEmpty();
            one.getBean(InvoiceJob.class).run();
            assertThat(instances.database.queryForList(alert)).hasSize(1);
        });
    }

    @Test
    void a_recorded_job_that_a_crash_ends_is_made_up_by_the_next_start() {
        instances.run((one, two) -> {
            Work work = one.getBean(Work.class).blocked();
            FutureTask<?> crashes = start(() -> one.getBean(InvoiceJob.class).run());
            await().atMost(LIMIT).until(work::isRunning);

            instances.crash("one", "daily-invoices");
            two.getBean(InvoiceJob.class).run();
            work.unblock();
            assertThatThrownBy(() -> crashes.get(20, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);

            assertThat(instances.database.queryForList("SELECT instance FROM invoice", String.class))
                    .containsExactly("two");
        });
    }

    private static RecipeInstances instances(String reportCron, String invoiceCron) {
        return new RecipeInstances(Jobs.class, SCHEMA, "report.cron=" + reportCron, "invoice.cron=" + invoiceCron);
    }

    private static long skipped(ApplicationContext instance) {
        return acquisitions(instance, "refused");
    }

    private static long runs(ApplicationContext instance) {
        return acquisitions(instance, "acquired");
    }

    private static long acquisitions(ApplicationContext instance, String outcome) {
        return instance
                .getBean(MeterRegistry.class)
                .find("syncguard.lock.acquire")
                .tag("outcome", outcome)
                .timers()
                .stream()
                .mapToLong(timer -> timer.count())
                .sum();
    }

    private static FutureTask<?> start(Runnable work) {
        Callable<?> call = () -> {
            work.run();
            return null;
        };
        FutureTask<?> task = new FutureTask<>(call);
        new Thread(task).start();
        return task;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    @Import({ReportJob.class, InvoiceJob.class, Work.class})
    static class Jobs {

        @Bean
        SimpleMeterRegistry meters() {
            return new SimpleMeterRegistry();
        }
    }

    /** What the jobs do. */
    static class Work {

        private static final String INSTANCE = "current_setting('application_name')";

        private final JdbcTemplate jdbc;
        private final CountDownLatch running = new CountDownLatch(1);
        private volatile CountDownLatch end = new CountDownLatch(0);

        Work(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        Work blocked() {
            end = new CountDownLatch(1);
            return this;
        }

        boolean isRunning() {
            return running.getCount() == 0;
        }

        void unblock() {
            end.countDown();
        }

        void writeReport() {
            jdbc.update("INSERT INTO report VALUES (" + INSTANCE + ")");
            waitForTheEnd();
        }

        void writeInvoices(LocalDate day) {
            jdbc.update("INSERT INTO invoice VALUES (?, " + INSTANCE + ")", day);
            waitForTheEnd();
        }

        private void waitForTheEnd() {
            running.countDown();
            try {
                end.await();
            } catch (InterruptedException ex) {
                throw new IllegalStateException(ex);
            }
        }
    }

    static class ReportJob {

        private final Work work;

        ReportJob(Work work) {
            this.work = work;
        }

        // sample: recipe-job
        @Scheduled(cron = "${report.cron:0 0 3 * * *}", zone = "UTC")
        @ScheduledLock(
                name = "daily-report",
                ttl = "2m", // after a crash: longer than the clocks differ
                holdAtLeast = "1m", // longer than the clocks differ, shorter than the interval
                holdAtMost = "2h") // against a run that hangs
        public void run() {
            work.writeReport();
        }
        // end
    }

    static class InvoiceJob {

        private final JdbcTemplate jdbc;
        private final Work work;

        InvoiceJob(JdbcTemplate jdbc, Work work) {
            this.jdbc = jdbc;
            this.work = work;
        }

        // sample: recipe-job-recorded
        @Scheduled(cron = "${invoice.cron:0 * 3-5 * * *}", zone = "UTC") // each minute from three to six
        @ScheduledLock("daily-invoices")
        @Transactional
        public void run() {
            LocalDate day = LocalDate.now(ZoneOffset.UTC);
            if (jdbc.update("INSERT INTO invoice_run (day) VALUES (?) ON CONFLICT DO NOTHING", day) == 1) {
                work.writeInvoices(day); // in the same transaction: a crash undoes both
            }
        }
        // end
    }
}
