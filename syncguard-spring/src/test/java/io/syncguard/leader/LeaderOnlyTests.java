package io.syncguard.leader;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.syncguard.Fence;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockSetupException;
import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** Methods that run on the leader alone. */
@Timeout(60)
class LeaderOnlyTests {

    private final LeaderApplication application = new LeaderApplication();

    @Test
    void the_leader_runs_it_under_its_lock() {
        onLeader((context, jobs) -> assertThat(jobs.fence()).contains(new Fence(1)));
    }

    @Test
    void others_leave_it_out_and_return_nothing() {
        onLeader((leader, ofLeader) -> application.with(Jobs.class).run(context -> {
            Jobs jobs = context.getBean(Jobs.class);
            assertThat(jobs.fence()).isEmpty();
            assertThat(jobs.number()).isZero();
            assertThat(jobs.text()).isNull();
            assertThat(jobs.names()).isEmpty();
            assertThat(jobs.later(new CompletableFuture<>())).isCompletedWithValue(null);
            assertThat(jobs.runs()).isZero();
        }));
    }

    @Test
    void a_result_whose_work_is_still_to_come_is_refused_and_cancelled() {
        onLeader((context, jobs) -> {
            CompletableFuture<String> work = new CompletableFuture<>();

            assertThatThrownBy(() -> jobs.undeclared(List.of(work)))
                    .isInstanceOf(LockException.class)
                    .hasMessageContainingAll("Jobs.undeclared", "CompletableFuture");

            assertThat(work).isCancelled();
        });
    }

    @Test
    void a_scheduled_job_runs_in_the_next_leader_when_this_one_stops() {
        application.with(Scheduling.class, ScheduledJob.class).run(one -> {
            eventually().until(() -> one.getBean(ScheduledJob.class).runs() > 0);
            application.with(Scheduling.class, ScheduledJob.class).run(two -> {
                ScheduledJob job = two.getBean(ScheduledJob.class);
                assertThat(job.runs()).isZero();

                one.getBean(LeaderElection.class).member("scheduler").leave();

                eventually().until(() -> job.runs() > 0);
                int runs = one.getBean(ScheduledJob.class).runs();
                int more = job.runs();
                eventually().until(() -> job.runs() > more);
                assertThat(one.getBean(ScheduledJob.class).runs()).isEqualTo(runs);
            });
        });
    }

    @Test
    void a_body_is_interrupted_when_the_leader_steps_down_and_ends_under_its_lock() {
        onLeader((context, jobs) -> {
            FutureTask<String> body = inAnotherThread(jobs::untilInterrupted);
            eventually().until(() -> jobs.runs() == 1);

            member(context).pause();

            assertThat(got(body)).isEqualTo("interrupted, held: true");
            eventually().until(() -> !context.getBean(LockManager.class).isLocked("leader:scheduler"));
        });
    }

    @Test
    void a_body_is_interrupted_by_a_loss_and_its_call_says_so() {
        onLeader((context, jobs) -> {
            FutureTask<String> body = inAnotherThread(jobs::untilInterrupted);
            eventually().until(() -> jobs.runs() == 1);

            application.store.expireLease(lock(context).lockId());
            lock(context).extend(Duration.ofSeconds(30));

            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> got(body))
                    .withCauseInstanceOf(LockLostException.class)
                    .withMessageContaining("'scheduler'");
        });
    }

    @Test
    void a_body_that_ends_by_the_interrupt_of_a_loss_fails_with_the_loss() {
        onLeader((context, jobs) -> {
            FutureTask<Throwable> thrown = inAnotherThread(() -> catchThrowable(jobs::throwingUntilInterrupted));
            eventually().until(() -> jobs.runs() == 1);

            application.store.expireLease(lock(context).lockId());
            lock(context).extend(Duration.ofSeconds(30));

            assertThat(got(thrown))
                    .isInstanceOf(LockLostException.class)
                    .hasNoSuppressedExceptions()
                    .hasCauseInstanceOf(InterruptedException.class);
        });
    }

    @Test
    void a_body_that_ends_by_the_interrupt_of_a_leader_that_steps_down_fails_with_the_end_of_the_leadership() {
        onLeader((context, jobs) -> {
            FutureTask<Throwable> thrown = inAnotherThread(() -> {
                Throwable failure = catchThrowable(jobs::throwingUntilInterrupted);
                assertThat(Thread.currentThread().isInterrupted()).isFalse();
                return failure;
            });
            eventually().until(() -> jobs.runs() == 1);

            member(context).pause();

            assertThat(got(thrown))
                    .isInstanceOf(LockLostException.class)
                    .hasMessageContainingAll("'scheduler'", "ended while its work was under way")
                    .hasNoSuppressedExceptions()
                    .hasCauseInstanceOf(InterruptedException.class);
        });
    }

    @Test
    void an_interrupt_of_somebody_else_stays_one() {
        onLeader((context, jobs) -> assertThatExceptionOfType(InterruptedException.class)
                .isThrownBy(() -> {
                    Thread.currentThread().interrupt();
                    jobs.throwingUntilInterrupted();
                })
                .satisfies(ex -> assertThat(ex.getSuppressed()).isEmpty()));
    }

    @Test
    void a_future_keeps_the_lock_until_it_is_done() {
        onLeader((context, jobs) -> {
            CompletableFuture<String> result = new CompletableFuture<>();
            CompletableFuture<String> returned = jobs.later(result);
            assertThat(returned).isNotDone();

            result.complete("done");

            assertThat(returned.get(10, TimeUnit.SECONDS)).isEqualTo("done");
            assertThat(member(context).isLeader()).isTrue();
        });
    }

    @Test
    void a_future_is_cancelled_when_the_leader_steps_down_and_waited_for() {
        onLeader((context, jobs) -> {
            CompletableFuture<String> result = new CompletableFuture<>();
            CompletableFuture<String> returned = jobs.later(result);

            member(context).pause();

            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> returned.get(10, TimeUnit.SECONDS))
                    .havingCause()
                    .isInstanceOf(LockLostException.class)
                    .withMessageContainingAll("'scheduler'", "ended while its work was under way")
                    .withCauseInstanceOf(CancellationException.class);
            assertThat(result).isCancelled();
            eventually().until(() -> !context.getBean(LockManager.class).isLocked("leader:scheduler"));
        });
    }

    @Test
    void a_bodys_own_exception_comes_out_as_it_is() {
        onLeader((context, jobs) -> assertThatExceptionOfType(IOException.class)
                .isThrownBy(jobs::failing)
                .withMessage("as the test wants it"));
    }

    @Test
    void it_may_stand_on_a_class_or_in_an_annotation_of_ones_own_and_name_a_placeholder() {
        application
                .with(Jobs.class, OnClass.class, Composed.class)
                .withPropertyValues("election=scheduler")
                .run(context -> {
                    eventually().until(member(context)::isLeader);
                    assertThat(context.getBean(OnClass.class).run()).isEqualTo("ran");
                    assertThat(context.getBean(Composed.class).run()).isEqualTo("ran");
                    member(context).pause();
                    assertThat(context.getBean(OnClass.class).run()).isNull();
                    assertThat(context.getBean(Composed.class).run()).isNull();
                });
    }

    @Test
    void an_election_that_code_makes_known_while_beans_are_made_is_known() {
        application
                .with(InCode.class)
                .run(context -> eventually()
                        .until(() -> "ran".equals(context.getBean(InCode.class).run())));
    }

    @Test
    void two_elections_for_one_method_are_refused() {
        application
                .with(TwoElections.class)
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(LockSetupException.class)
                        .message()
                        .startsWith("@LeaderOnly on ")
                        .contains("TwoElections.run: ", "@Second"));
    }

    @Test
    void an_election_is_known_however_its_name_is_spelled() {
        application
                .with(SpeltDifferently.class)
                .run(context -> eventually()
                        .until(() -> "ran"
                                .equals(context.getBean(SpeltDifferently.class).run())));
    }

    @Test
    void an_unknown_election_fails_the_start_and_is_named() {
        application
                .with(Misspelt.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageContainingAll("@LeaderOnly", "Misspelt.run", "'schedular'", "[scheduler]"));
    }

    @Test
    void a_result_that_cannot_be_waited_for_fails_the_start() {
        application
                .with(Streaming.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("Return a CompletableFuture"));
    }

    @Test
    void a_method_that_no_proxy_sees_fails_the_start() {
        application
                .with(Hidden.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContainingAll("@LeaderOnly", "Hidden.run", "final", "on all instances"));
    }

    private interface OnLeader {
        void on(AssertableApplicationContext context, Jobs jobs) throws Exception;
    }

    private void onLeader(OnLeader test) {
        ContextConsumer<AssertableApplicationContext> consumer = context -> {
            eventually().until(member(context)::isLeader);
            test.on(context, context.getBean(Jobs.class));
        };
        application.with(Jobs.class).run(consumer);
    }

    private static LeaderMember member(AssertableApplicationContext context) {
        return context.getBean(LeaderElection.class).member("scheduler");
    }

    private static LockHandle lock(AssertableApplicationContext context) {
        return member(context).membership().term().lock();
    }

    static class Jobs {

        private final AtomicInteger runs = new AtomicInteger();

        int runs() {
            return runs.get();
        }

        @LeaderOnly("scheduler")
        Optional<Fence> fence() {
            return LockHandle.current().map(LockHandle::fence);
        }

        @LeaderOnly("scheduler")
        int number() {
            return runs.incrementAndGet();
        }

        @LeaderOnly("scheduler")
        String text() {
            return "text " + runs.incrementAndGet();
        }

        @LeaderOnly("scheduler")
        List<String> names() {
            return List.of("name " + runs.incrementAndGet());
        }

        @LeaderOnly("scheduler")
        CompletableFuture<String> later(CompletableFuture<String> result) {
            return result;
        }

        @LeaderOnly("scheduler")
        Object undeclared(Object result) {
            return result;
        }

        @LeaderOnly("scheduler")
        void failing() throws IOException {
            throw new IOException("as the test wants it");
        }

        @LeaderOnly("scheduler")
        void throwingUntilInterrupted() throws InterruptedException {
            runs.incrementAndGet();
            new CountDownLatch(1).await();
        }

        @LeaderOnly("scheduler")
        String untilInterrupted() {
            LockHandle lock = LockHandle.current().orElseThrow();
            runs.incrementAndGet();
            try {
                new CountDownLatch(1).await();
                return "never";
            } catch (InterruptedException ex) {
                return "interrupted, held: " + lock.isHeld();
            }
        }
    }

    @LeaderOnly("${election}")
    static class OnClass {

        public String run() {
            return "ran";
        }
    }

    @LeaderOnly("scheduler")
    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @interface OnScheduler {}

    static class Composed {

        @OnScheduler
        String run() {
            return "ran";
        }
    }

    static class TwoElections {

        @LeaderOnly("one")
        @Second
        public Optional<String> run() {
            return Optional.empty();
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.METHOD, ElementType.TYPE})
    @LeaderOnly("two")
    @interface Second {}

    static class InCode {

        InCode(LeaderElection election) {
            election.join("in-code");
        }

        @LeaderOnly("in-code")
        String run() {
            return "ran";
        }
    }

    static class SpeltDifferently {

        SpeltDifferently(LeaderElection election) {
            election.join("caf\u00e9");
        }

        @LeaderOnly("cafe\u0301")
        String run() {
            return "ran";
        }
    }

    static class Misspelt {

        @LeaderOnly("schedular")
        void run() {}
    }

    static class Streaming {

        @LeaderOnly("scheduler")
        Stream<String> run() {
            return Stream.of();
        }
    }

    static class Hidden {

        @LeaderOnly("scheduler")
        final void run() {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Scheduling {}

    static class ScheduledJob {

        private final AtomicInteger runs = new AtomicInteger();

        int runs() {
            return runs.get();
        }

        @Scheduled(fixedDelay = 2)
        @LeaderOnly("scheduler")
        void run() {
            runs.incrementAndGet();
        }
    }
}
