package io.syncguard.interception;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.testing.ScarceThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Acquisitions never hold up releases, and nothing runs on the thread of the subscriber. */
@Timeout(60)
class PublisherThreadsTests {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final ScarceThreads factory = new ScarceThreads();
    private final PublisherThreads threads = new PublisherThreads(factory, null);
    private final CountDownLatch mayEnd = new CountDownLatch(1);
    private final Set<Thread> used = ConcurrentHashMap.newKeySet();

    @AfterEach
    void close() {
        mayEnd.countDown();
        threads.close();
    }

    @Test
    void acquisitions_that_wait_hold_up_neither_others_nor_releases() {
        AtomicInteger waiting = new AtomicInteger();
        for (int i = 0; i < 50; i++) {
            threads.acquisitions().execute(() -> {
                waiting.incrementAndGet();
                waitForEnd();
            });
        }
        await().atMost(LIMIT).until(() -> waiting.get() == 50);

        threads.releases().execute(mayEnd::countDown);

        await().atMost(LIMIT).until(() -> mayEnd.getCount() == 0);
    }

    @Test
    void a_few_threads_send_all_releases() {
        List<Runnable> releases = new ArrayList<>();
        AtomicInteger ended = new AtomicInteger();
        for (int i = 0; i < 1000; i++) {
            releases.add(() -> {
                used.add(Thread.currentThread());
                waitForEnd();
                ended.incrementAndGet();
            });
        }

        releases.forEach(threads.releases()::execute);
        mayEnd.countDown();

        await().atMost(LIMIT).until(() -> ended.get() == 1000);
        assertThat(used).hasSizeLessThanOrEqualTo(16);
    }

    @Test
    void a_release_needs_no_new_thread_after_the_first_acquisition() {
        threads.acquisitions().execute(() -> used.add(Thread.currentThread()));
        await().atMost(LIMIT).until(() -> used.size() == 1);
        factory.exhausted = true;

        threads.releases().execute(() -> used.add(Thread.currentThread()));

        await().atMost(LIMIT).until(() -> used.size() == 2);
        assertThat(used).doesNotContain(Thread.currentThread());
    }

    @Test
    void a_lack_of_threads_is_the_error_of_an_acquisition() {
        factory.exhausted = true;
        assertThatThrownBy(() -> threads.acquisitions().execute(() -> used.add(Thread.currentThread())))
                .isInstanceOf(InternalError.class);
        assertThat(used).isEmpty();

        factory.exhausted = false;
        threads.acquisitions().execute(() -> used.add(Thread.currentThread()));
        await().atMost(LIMIT).until(() -> used.size() == 1);
    }

    @Test
    void nothing_begins_after_the_close() {
        threads.close();

        assertThatThrownBy(() -> threads.acquisitions().execute(mayEnd::countDown))
                .isInstanceOfSatisfying(
                        LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.ABORTED));
        assertThatThrownBy(() -> threads.releases().execute(mayEnd::countDown))
                .isInstanceOf(RejectedExecutionException.class);
        assertThat(mayEnd.getCount()).isOne();
    }

    private void waitForEnd() {
        try {
            mayEnd.await();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }
}
