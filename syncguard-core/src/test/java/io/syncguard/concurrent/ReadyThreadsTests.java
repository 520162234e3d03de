package io.syncguard.concurrent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.testing.ScarceThreads;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** One thread that exists from the beginning, and those that are made while it is busy. */
class ReadyThreadsTests {

    private static final int MOST = 3;

    private final ScarceThreads maker = new ScarceThreads();
    private final List<Thread> made = new CopyOnWriteArrayList<>();
    private final AtomicInteger lacks = new AtomicInteger();
    private final ReadyThreads threads = ReadyThreads.upTo(
            MOST,
            work -> {
                Thread thread = maker.newThread(work);
                made.add(thread);
                return thread;
            },
            lacks::incrementAndGet);
    private final List<String> ran = new CopyOnWriteArrayList<>();
    private final CountDownLatch end = new CountDownLatch(1);

    @AfterEach
    void close() {
        end.countDown();
        threads.close();
    }

    @Test
    void there_is_one_at_the_beginning_and_another_only_while_all_are_busy() {
        assertThat(made).hasSize(1);
        awaitRest();
        for (int i = 0; i < 10; i++) {
            run("work");
        }
        assertThat(made).hasSize(1);

        block();
        run("on a second one");
        assertThat(made).hasSize(2);

        run("on the same");
        assertThat(made).hasSize(2);
    }

    @Test
    void work_waits_when_there_are_as_many_as_possible() {
        for (int i = 0; i < MOST; i++) {
            block();
        }
        for (int i = 0; i < 10; i++) {
            threads.execute(() -> ran.add("waited"));
        }
        assertThat(ran).isEmpty();
        assertThat(made).hasSize(MOST);

        end.countDown();

        Awaitility.await().until(() -> ran.size() == 10);
    }

    @Test
    void without_another_thread_work_waits_for_the_one_that_exists() {
        block();
        maker.exhausted = true;
        threads.execute(() -> ran.add("waited"));
        assertThat(ran).isEmpty();

        maker.exhausted = false;
        threads.execute(() -> ran.add("on a new one"));
        Awaitility.await().until(() -> ran.size() == 2);
    }

    /** Nobody submits more, and the busy thread does not finish. */
    @Test
    void work_that_waits_for_a_thread_gets_one_when_threads_can_be_made_again() {
        block();
        maker.exhausted = true;
        threads.execute(() -> ran.add("waited"));
        threads.execute(this::awaitEnd);
        threads.execute(() -> ran.add("too"));
        assertThat(lacks).hasValue(3);
        threads.makeMissing();
        assertThat(lacks).hasValue(4);
        assertThat(ran).isEmpty();

        maker.exhausted = false;
        threads.makeMissing();

        Awaitility.await().untilAsserted(() -> assertThat(ran).containsExactlyInAnyOrder("waited", "too"));
        assertThat(lacks).hasValue(4);
    }

    @Test
    void a_thread_that_has_finished_makes_those_that_could_not_be_made() {
        CountDownLatch first = new CountDownLatch(1);
        threads.execute(() -> await(first));
        maker.exhausted = true;
        threads.execute(this::awaitEnd);
        threads.execute(() -> ran.add("waited"));

        maker.exhausted = false;
        first.countDown();

        Awaitility.await().until(() -> ran.contains("waited"));
    }

    /** Threads that end while they are idle would race with work that comes at that moment. */
    @Test
    void no_idle_thread_ends() {
        CountDownLatch both = new CountDownLatch(2);
        for (int i = 0; i < 2; i++) {
            threads.execute(() -> {
                both.countDown();
                await(both);
            });
        }
        await(both);

        Awaitility.await().until(() -> made.stream().allMatch(thread -> thread.getState() == Thread.State.WAITING));
        assertThat(made).hasSize(2);
    }

    @Test
    void without_the_first_thread_there_are_none() {
        maker.exhausted = true;

        assertThatThrownBy(() -> ReadyThreads.upTo(MOST, maker, () -> {}))
                .hasMessageContaining("unable to create native thread");
    }

    @Test
    void what_waits_at_the_end_still_runs_and_nothing_later() {
        for (int i = 0; i < MOST; i++) {
            block();
        }
        threads.execute(() -> ran.add("waited"));

        threads.close();

        assertThatThrownBy(() -> threads.execute(() -> ran.add("late"))).isInstanceOf(RejectedExecutionException.class);
        end.countDown();
        Awaitility.await().until(() -> made.stream().noneMatch(Thread::isAlive));
        assertThat(ran).containsExactly("waited");
    }

    /** Returns when it has run, and each thread that does not block waits for work. */
    private void run(String name) {
        threads.execute(() -> ran.add(name));
        Awaitility.await().until(() -> ran.remove(name));
        awaitRest();
    }

    /** Returns when it runs. It blocks until the end. */
    private void block() {
        awaitRest();
        CountDownLatch runs = new CountDownLatch(1);
        threads.execute(() -> {
            runs.countDown();
            awaitEnd();
        });
        await(runs);
        awaitRest();
    }

    private void awaitEnd() {
        await(end);
    }

    private void awaitRest() {
        Awaitility.await()
                .until(() -> made.stream()
                        .map(Thread::getState)
                        .allMatch(state -> state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING));
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
