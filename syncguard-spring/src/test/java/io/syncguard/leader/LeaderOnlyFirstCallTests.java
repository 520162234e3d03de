package io.syncguard.leader;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.syncguard.LockErrorCode;
import io.syncguard.aop.CallLimits;
import io.syncguard.aop.SpringLocks;
import io.syncguard.core.InterceptedBackend;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.testing.CapturedLog;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.EventListener;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** A call at the first moment does not depend on how fast the server answers. */
@Timeout(60)
class LeaderOnlyFirstCallTests {

    private final LeaderApplication application = new LeaderApplication();
    private final InterceptedBackend backend = new InterceptedBackend(new InMemoryLockBackend(application.store));
    private final CountDownLatch asks = new CountDownLatch(1);
    private final CountDownLatch answer = new CountDownLatch(1);

    private final ApplicationContextRunner runner = application.on(() -> backend, Job.class);

    LeaderOnlyFirstCallTests() {
        backend.beforeAcquire = () -> {
            asks.countDown();
            awaitUninterruptibly(answer);
        };
    }

    @Test
    void it_runs_on_a_single_instance() {
        FutureTask<Void> answering = inAnotherThread(() -> {
            asks.await(10, TimeUnit.SECONDS);
            answer.countDown();
            return null;
        });

        runner.withBean(AtTheStart.class).run(context -> {
            assertThat(context.getBean(AtTheStart.class).result).contains("ran");
            got(answering);
        });
    }

    @Test
    void it_is_skipped_with_a_warning_when_the_server_does_not_answer() {
        try (CapturedLog log = new CapturedLog(Level.WARN)) {
            runner.withBean(CallLimits.class, () -> SpringLocks.waiting(Duration.ofMillis(10)))
                    .run(context -> {
                        Job job = context.getBean(Job.class);

                        assertThat(job.run()).isEmpty();
                        assertThat(job.run()).isEmpty();

                        assertThat(log.messages())
                                .filteredOn(message -> message.startsWith("Skipped ") && message.contains("Job.run"))
                                .hasSize(1);
                        answer.countDown();
                        eventually().until(() -> job.run().isPresent());
                    });
        }
    }

    @Test
    void it_is_skipped_at_once_when_the_server_has_failed_for_longer() {
        backend.beforeAcquire = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        runner.withBean(CallLimits.class, () -> SpringLocks.waiting(Duration.ofMillis(100)))
                .run(context -> assertThat(context.getBean(Job.class).run()).isEmpty());
    }

    @Test
    void before_the_elections_begin_nobody_waits_for_them() {
        answer.countDown();
        try (CapturedLog log = new CapturedLog(Level.INFO)) {
            runner.withBean(BeforeTheStart.class).run(context -> {
                BeforeTheStart before = context.getBean(BeforeTheStart.class);
                assertThat(before.called).isTrue();
                assertThat(before.result).isEmpty();
                assertThat(log.messages()).anyMatch(message -> message.contains("has not joined the election"));
            });
        }
    }

    @Test
    void the_end_of_the_application_ends_the_wait() {
        runner.run(context -> {
            Job job = context.getBean(Job.class);
            AtomicReference<Thread> caller = new AtomicReference<>();
            FutureTask<Optional<String>> call = inAnotherThread(() -> {
                caller.set(Thread.currentThread());
                return job.run();
            });
            awaitUninterruptibly(asks);
            eventually().until(() -> caller.get() != null && caller.get().getState() == Thread.State.TIMED_WAITING);
            answer.countDown();

            context.close();

            assertThat(got(call))
                    .satisfiesAnyOf(
                            result -> assertThat(result).isEmpty(),
                            result -> assertThat(result).contains("ran"));
        });
    }

    @Test
    void an_event_loop_does_not_wait() {
        runner.withBean(CallLimits.class, () -> SpringLocks.waiting(Duration.ofHours(1)))
                .run(context -> {
                    Job job = context.getBean(Job.class);

                    Optional<String> result = Mono.fromCallable(job::run)
                            .subscribeOn(Schedulers.parallel())
                            .toFuture()
                            .get(10, TimeUnit.SECONDS);

                    assertThat(result).isEmpty();
                    answer.countDown();
                });
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        boolean interrupted = false;
        while (true) {
            try {
                latch.await(1, TimeUnit.MINUTES);
                break;
            } catch (InterruptedException ex) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    static class Job {

        @LeaderOnly("scheduler")
        public Optional<String> run() {
            return Optional.of("ran");
        }
    }

    static class AtTheStart {

        private final Job job;
        private volatile Optional<String> result = Optional.empty();

        AtTheStart(Job job) {
            this.job = job;
        }

        @EventListener
        void ready(ContextRefreshedEvent event) {
            result = job.run();
        }
    }

    static class BeforeTheStart implements SmartInitializingSingleton {

        private final ObjectProvider<Job> job;
        private final AtomicBoolean called = new AtomicBoolean();
        private volatile Optional<String> result = Optional.empty();

        BeforeTheStart(ObjectProvider<Job> job) {
            this.job = job;
        }

        @Override
        public void afterSingletonsInstantiated() {
            result = job.getObject().run();
            called.set(true);
        }
    }
}
