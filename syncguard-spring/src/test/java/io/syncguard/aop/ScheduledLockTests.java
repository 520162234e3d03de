package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockMode;
import io.syncguard.LockRequest;
import io.syncguard.LockSettings;
import io.syncguard.OnContention;
import io.syncguard.leader.LeaderOnly;
import io.syncguard.scheduling.ScheduledLock;
import io.syncguard.testing.CapturedLog;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AliasFor;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;

/** Scheduled methods that every instance runs although they are locked, and the annotation that says what is meant. */
@Timeout(60)
class ScheduledLockTests {

    private static final String NEVER = "-";

    private static final long NOT_YET = 3_600_000;

    private static final String HINT = "onContention = OnContention.SKIP";

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    @ParameterizedTest
    @ValueSource(
            classes = {
                Plain.class,
                Inherits.class,
                Overrides.class,
                OfClass.class,
                Repeated.class,
                Schedule.class,
                MetaScheduled.class,
                MetaLocked.class,
                OfInterface.class,
                WithKey.class,
                Impatient.class,
                Fallback.class
            })
    void a_scheduled_method_that_waits_for_its_lock_is_named_once_at_the_start(Class<?> job) {
        for (boolean classProxies : new boolean[] {true, false}) {
            assertThat(warnings(application
                            .with(Tasks.class, job)
                            .withPropertyValues("proxy-target-class=" + classProxies)))
                    .singleElement()
                    .asString()
                    .contains(HINT, ".run", "each instance", "@ScheduledLock(name = \"", "shorter than the interval");
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                Skips.class,
                MetaSkips.class,
                Annotated.class,
                Reads.class,
                Leads.class,
                LeadsAsClass.class,
                FallbackAtOnce.class,
                AnyInstance.class,
                ShortHold.class,
                LeadsEvery.class,
                NotScheduled.class,
                NotLocked.class
            })
    void no_other_method_is_named(Class<?> job) {
        assertThat(warnings(application.with(Tasks.class, job))).isEmpty();
    }

    /** Each instance begins at another moment, so the key of a short job is free again for each of them. */
    @ParameterizedTest
    @ValueSource(classes = {Rate.class, Delay.class, RateText.class, SkipsEvery.class, OneOfTwo.class})
    void a_job_with_an_interval_that_each_instance_runs_one_after_another_is_named_at_the_start(Class<?> job) {
        assertThat(warnings(application.with(Tasks.class, job).withPropertyValues("every=1h")))
                .singleElement()
                .asString()
                .contains(job.getName() + ".run", "another moment", "holdAtLeast");
    }

    @ParameterizedTest
    @CsvSource({
        "LongHold, runs every 5m",
        "LongHoldOfUnit, runs every 1h",
        "LongHoldOfText, runs every 1h",
        "LongHoldOfNumber, runs every 3s",
    })
    void a_job_whose_key_is_still_taken_at_its_next_run_is_named_at_the_start(String job, String every)
            throws Exception {
        Class<?> type = Class.forName(ScheduledLockTests.class.getName() + "$" + job);
        assertThat(warnings(application.with(Tasks.class, type).withPropertyValues("every=1h")))
                .singleElement()
                .asString()
                .contains(type.getName() + ".run", every, "holdAtLeast", "runs are left out");
    }

    @Test
    void a_setting_of_the_name_counts_as_what_the_annotation_says() {
        assertThat(warnings(application
                        .with(Tasks.class, Rate.class)
                        .withBean(CallLimits.class, () -> holding(Duration.ofMinutes(4)))))
                .isEmpty();
        assertThat(warnings(application
                        .with(Tasks.class, ShortHold.class)
                        .withBean(CallLimits.class, () -> holding(Duration.ofMinutes(5)))))
                .singleElement()
                .asString()
                .contains("runs are left out");
    }

    @Test
    void nothing_is_said_where_nothing_is_scheduled_and_where_the_interval_is_not_known() {
        assertThat(warnings(application.with(Plain.class))).isEmpty();
        assertThat(warnings(application.with(Tasks.class, LongHoldAfterDelay.class)))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_job_is_skipped_while_its_key_is_taken_and_has_its_attributes_otherwise(boolean classProxies) {
        application
                .with(Tasks.class, AnnotatedJob.class)
                .withPropertyValues("proxy-target-class=" + classProxies, "ttl=9s")
                .run(context -> {
                    Job job = context.getBean(Job.class);
                    LockHandle other = application.takenBySomebodyElse("nightly-report");
                    assertThat(job.named()).isNull();
                    assertThat(job.valued()).isNull();
                    other.release();
                    LockRequest request = job.named();
                    assertThat(request.ttl()).isEqualTo(Duration.ofSeconds(9));
                    assertThat(request.holdAtLeast()).isEqualTo(Duration.ofMinutes(1));
                    assertThat(request.holdAtMost()).isEqualTo(Duration.ofHours(2));
                    assertThat(application.isTaken("nightly-report"))
                            .as("after the run")
                            .isTrue();
                    assertThat(job.valued()).as("a second run").isNull();
                });
    }

    @Test
    void a_job_without_a_name_is_refused() {
        application
                .with(Nameless.class)
                .run(context -> assertThat(context.getStartupFailure())
                        .hasMessageContaining("Nameless.run")
                        .hasMessageContaining("'name'"));
    }

    @Test
    void an_own_annotation_may_be_composed_of_it() {
        application.with(Nightly.class).run(context -> {
            assertThat(context.getBean(Nightly.class).run().key()).isEqualTo("composed");
            assertThat(context.getBean(Nightly.class).run()).isNull();
        });
    }

    private static CallLimits holding(Duration atLeast) {
        LockSettings settings = new LockSettings(null, null, null, null, null, null, atLeast, null, null, null);
        return new CallLimits(Duration.ZERO, 1, Duration.ofSeconds(30), Map.of("n", settings));
    }

    private static List<String> warnings(ApplicationContextRunner application) {
        try (CapturedLog log = new CapturedLog()) {
            application.run(context -> assertThat(context).hasNotFailed());
            return log.messages();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Tasks {}

    static class Plain {

        @Scheduled(cron = NEVER)
        @DistributedLock("n")
        public void run() {}
    }

    static class Inherits extends Plain {}

    static class Overrides extends Plain {

        @Scheduled(cron = NEVER)
        @Override
        public void run() {}
    }

    @DistributedLock("n")
    static class OfClass {

        @Scheduled(cron = NEVER)
        public void run() {}
    }

    static class Repeated {

        @Scheduled(cron = NEVER)
        @Scheduled(cron = NEVER, zone = "UTC")
        @DistributedLock("n")
        public void run() {}
    }

    static class Schedule {

        @Schedules(@Scheduled(cron = NEVER))
        @DistributedLock("n")
        public void run() {}
    }

    @Scheduled(cron = NEVER)
    @Retention(RetentionPolicy.RUNTIME)
    @interface AtNight {}

    static class MetaScheduled {

        @AtNight
        @DistributedLock("n")
        public void run() {}
    }

    @AtNight
    @DistributedLock("n")
    @Retention(RetentionPolicy.RUNTIME)
    @interface LockedAtNight {}

    static class MetaLocked {

        @LockedAtNight
        public void run() {}
    }

    interface Runs {

        @DistributedLock("n")
        void run();
    }

    static class OfInterface implements Runs {

        @Scheduled(cron = NEVER)
        @Override
        public void run() {}
    }

    static class WithKey {

        @Scheduled(cron = NEVER)
        @DistributedLock(key = "'n'")
        public void run() {}
    }

    static class Impatient {

        @Scheduled(cron = NEVER)
        @DistributedLock(name = "n", waitTime = "0s")
        public void run() {}
    }

    /** A short job has ended before the wait time of the next instance, which then runs it, too. */
    static class Fallback {

        @Scheduled(cron = NEVER)
        @DistributedLock(name = "n", fallback = "instead")
        public void run() {}

        void instead() {}
    }

    static class FallbackAtOnce {

        @Scheduled(cron = NEVER)
        @DistributedLock(name = "n", waitTime = "0s", fallback = "instead")
        public void run() {}

        void instead() {}
    }

    static class Skips {

        @Scheduled(cron = NEVER)
        @DistributedLock(name = "n", onContention = OnContention.SKIP)
        public void run() {}
    }

    @DistributedLock(name = "n", onContention = OnContention.SKIP)
    @Retention(RetentionPolicy.RUNTIME)
    @interface Skipping {}

    static class MetaSkips {

        @Scheduled(cron = NEVER)
        @Skipping
        public void run() {}
    }

    static class Annotated {

        @Scheduled(cron = NEVER)
        @ScheduledLock("n")
        public void run() {}
    }

    /** Each instance refreshes its own copy while nobody writes. */
    static class Reads {

        @Scheduled(cron = NEVER)
        @DistributedLock(name = "n", mode = LockMode.SHARED)
        public void run() {}
    }

    static class Leads {

        @Scheduled(cron = NEVER)
        @LeaderOnly("settlement")
        @DistributedLock("n")
        public void run() {}
    }

    @LeaderOnly("settlement")
    static class LeadsAsClass {

        @Scheduled(cron = NEVER)
        @DistributedLock("n")
        public void run() {}
    }

    static class Rate {

        @Scheduled(fixedRate = 300_000, initialDelay = NOT_YET)
        @ScheduledLock("n")
        public void run() {}
    }

    static class Delay {

        @Scheduled(fixedDelay = 300_000, initialDelay = NOT_YET)
        @ScheduledLock("n")
        public void run() {}
    }

    static class RateText {

        @Scheduled(fixedRateString = "${every}", initialDelay = NOT_YET)
        @ScheduledLock("n")
        public void run() {}
    }

    static class SkipsEvery {

        @Scheduled(fixedDelayString = "PT5M", initialDelay = NOT_YET)
        @DistributedLock(name = "n", onContention = OnContention.SKIP)
        public void run() {}
    }

    static class OneOfTwo {

        @Scheduled(cron = NEVER)
        @Scheduled(fixedRate = 300_000, initialDelay = NOT_YET)
        @ScheduledLock("n")
        public void run() {}
    }

    /** Says that the instances may take turns. */
    static class AnyInstance {

        @Scheduled(fixedRate = 300_000, initialDelay = NOT_YET)
        @ScheduledLock(name = "n", holdAtLeast = "0s")
        public void run() {}
    }

    static class ShortHold {

        @Scheduled(fixedRate = 300_000, initialDelay = NOT_YET)
        @ScheduledLock(name = "n", holdAtLeast = "4m")
        public void run() {}
    }

    static class LeadsEvery {

        @Scheduled(fixedRate = 300_000, initialDelay = NOT_YET)
        @LeaderOnly("settlement")
        @ScheduledLock("n")
        public void run() {}
    }

    static class LongHold {

        @Scheduled(fixedRate = 300_000, initialDelay = NOT_YET)
        @ScheduledLock(name = "n", holdAtLeast = "5m")
        public void run() {}
    }

    static class LongHoldOfUnit {

        @Scheduled(fixedRate = 1, timeUnit = TimeUnit.HOURS, initialDelay = 1)
        @ScheduledLock(name = "n", holdAtLeast = "2h")
        public void run() {}
    }

    static class LongHoldOfText {

        @Scheduled(fixedRateString = "${every}", initialDelay = NOT_YET)
        @ScheduledLock(name = "n", holdAtLeast = "2h")
        public void run() {}
    }

    static class LongHoldOfNumber {

        @Scheduled(fixedRateString = "3", timeUnit = TimeUnit.SECONDS, initialDelay = NOT_YET)
        @ScheduledLock(name = "n", holdAtLeast = "3s")
        public void run() {}
    }

    static class LongHoldAfterDelay {

        @Scheduled(fixedDelay = 300_000, initialDelay = NOT_YET)
        @ScheduledLock(name = "n", holdAtLeast = "1h")
        public void run() {}
    }

    static class NotScheduled {

        @DistributedLock("n")
        public void run() {}
    }

    static class NotLocked {

        @Scheduled(cron = NEVER)
        public void run() {}

        @DistributedLock("n")
        public void other() {}
    }

    interface Job {

        @Nullable
        LockRequest named();

        @Nullable
        LockRequest valued();
    }

    static class AnnotatedJob implements Job {

        @ScheduledLock(name = "nightly-report", ttl = "${ttl}", holdAtLeast = "1m", holdAtMost = "2h")
        @Override
        public @Nullable LockRequest named() {
            return LockHandle.current().orElseThrow().request();
        }

        @ScheduledLock("nightly-report")
        @Override
        public @Nullable LockRequest valued() {
            return LockHandle.current().orElseThrow().request();
        }
    }

    static class Nameless {

        @ScheduledLock
        public void run() {}
    }

    @ScheduledLock(holdAtLeast = "1m")
    @Retention(RetentionPolicy.RUNTIME)
    @interface NightlyLock {

        @AliasFor(annotation = ScheduledLock.class, attribute = "name")
        String job();
    }

    static class Nightly {

        @NightlyLock(job = "composed")
        public @Nullable LockRequest run() {
            return LockHandle.current().orElseThrow().request();
        }
    }
}
