package io.syncguard.concurrent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.testing.ScarceThreads;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DaemonThreadFactoryTests {

    @Test
    void threads_are_daemons_and_have_the_name() {
        DaemonThreadFactory factory = DaemonThreadFactory.named("syncguard-test");

        assertThat(List.of(factory.newThread(() -> {}), factory.newThread(() -> {})))
                .allMatch(Thread::isDaemon)
                .extracting(Thread::getName)
                .containsExactly("syncguard-test", "syncguard-test");
    }

    @Test
    void several_threads_are_numbered() {
        DaemonThreadFactory factory = DaemonThreadFactory.numbered("syncguard-test");

        assertThat(List.of(factory.newThread(() -> {}), factory.newThread(() -> {})))
                .allMatch(Thread::isDaemon)
                .extracting(Thread::getName)
                .containsExactly("syncguard-test-1", "syncguard-test-2");
    }

    /** Many threads are made lazily: for a caller whose class loader may be closed, and whose group may be capped. */
    @ParameterizedTest
    @EnumSource
    void threads_belong_to_the_thread_that_made_the_factory(Kind kind) throws Exception {
        ClassLoader application = new ClassLoader(null) {};
        Thread starter = Thread.currentThread();
        ClassLoader before = starter.getContextClassLoader();
        starter.setContextClassLoader(application);
        ThreadFactory factory = kind.make();
        starter.setContextClassLoader(before);

        FutureTask<Thread> made = new FutureTask<>(() -> factory.newThread(() -> {}));
        ThreadGroup jobs = new ThreadGroup("jobs");
        jobs.setMaxPriority(Thread.MIN_PRIORITY);
        Thread caller = new Thread(jobs, made);
        caller.setContextClassLoader(new ClassLoader(null) {});
        caller.start();

        Thread thread = made.get(1, TimeUnit.MINUTES);
        assertThat(thread.getContextClassLoader()).isSameAs(application);
        assertThat(thread.getThreadGroup()).isSameAs(starter.getThreadGroup());
        assertThat(thread.getPriority()).isEqualTo(Thread.NORM_PRIORITY);
        assertThat(thread.isDaemon()).isTrue();
    }

    @Test
    void a_thread_runs_its_work_when_it_is_started() throws Exception {
        CompletableFuture<String> ran = new CompletableFuture<>();
        Thread thread = DaemonThreadFactory.named("syncguard-test")
                .newThread(() -> ran.complete(Thread.currentThread().getName()));

        assertThat(thread.getState()).isEqualTo(Thread.State.NEW);
        thread.start();

        assertThat(ran.get(1, TimeUnit.MINUTES)).isEqualTo("syncguard-test");
    }

    @Test
    void a_maker_without_threads_fails_at_the_start_of_one() {
        ScarceThreads scarce = new ScarceThreads();
        Thread thread = DaemonThreadFactory.named("syncguard-test", scarce).newThread(() -> {});

        scarce.exhausted = true;

        assertThat(thread.getName()).isEqualTo("syncguard-test");
        assertThatThrownBy(thread::start).hasMessageContaining("unable to create native thread");
    }

    enum Kind {
        NAMED,
        NUMBERED;

        ThreadFactory make() {
            return this == NAMED
                    ? DaemonThreadFactory.named("syncguard-test")
                    : DaemonThreadFactory.numbered("syncguard-test");
        }
    }
}
