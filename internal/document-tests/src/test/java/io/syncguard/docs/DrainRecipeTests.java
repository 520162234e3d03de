package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.syncguard.DistributedLock;
import io.syncguard.LockNotAcquiredException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.context.WebApplicationContext;

/** "Drain for maintenance" of docs/permits.md, compiled and run by two instances. */
@Timeout(60)
class DrainRecipeTests {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final List<CountDownLatch> searches = new ArrayList<>();

    private RecipeInstances instances = instances();

    @AfterEach
    void endSearches() {
        searches.forEach(CountDownLatch::countDown);
    }

    @Test
    void a_rebuild_waits_for_all_searches_and_is_passed_by_none() {
        instances.run((one, two) -> {
            search(one);
            search(two);
            FutureTask<Void> rebuild = start(() -> {
                two.getBean(Search.class).rebuild();
                return null;
            });
            awaitWaiters(1);
            FutureTask<List<String>> later =
                    start(() -> one.getBean(Search.class).find("later"));
            awaitWaiters(2);

            searches.get(0).countDown();
            awaitPermits(1);
            assertThat(rebuild.isDone()).isFalse();
            assertThat(later.isDone()).isFalse();
            searches.get(1).countDown();

            rebuild.get(20, TimeUnit.SECONDS);
            assertThat(later.get(20, TimeUnit.SECONDS)).containsExactly("later in edition 2");
        });
    }

    @Test
    void searches_go_on_after_a_rebuild_that_gave_up() {
        instances = instances("syncguard.locks.search-index.wait-time=2s");
        instances.run((one, two) -> {
            search(one);
            FutureTask<Void> rebuild = start(() -> {
                two.getBean(Search.class).rebuild();
                return null;
            });

            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> rebuild.get(20, TimeUnit.SECONDS))
                    .withCauseInstanceOf(LockNotAcquiredException.class);
            assertThat(two.getBean(Search.class).find("next")).containsExactly("next in edition 1");
        });
    }

    private static RecipeInstances instances(String... properties) {
        return new RecipeInstances(Shop.class, "SELECT 1", properties);
    }

    /** Starts a search that holds its permit until the test ends it. */
    private void search(WebApplicationContext instance) {
        int before = searches.size();
        CountDownLatch end = new CountDownLatch(1);
        searches.add(end);
        instance.getBean(Index.class).ends.add(end);
        start(() -> instance.getBean(Search.class).find("first"));
        awaitPermits(before + 1);
    }

    private void awaitPermits(int held) {
        await().atMost(LIMIT).until(() -> instances.count("syncguard_locks_shared") == held);
    }

    private void awaitWaiters(int waiters) {
        await().atMost(LIMIT).until(() -> instances.count("syncguard_locks_waiters") == waiters);
    }

    private static <T> FutureTask<T> start(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        new Thread(task).start();
        return task;
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Search.class)
    static class Shop {

        @Bean
        Index index() {
            return new Index();
        }
    }

    /** An instance's view of the index. */
    static class Index {

        private static volatile int edition;

        private final Queue<CountDownLatch> ends = new ConcurrentLinkedQueue<>();

        Index() {
            edition = 1;
        }

        List<String> find(String words) {
            CountDownLatch end = ends.poll();
            if (end != null) {
                await(end);
            }
            return List.of(words + " in edition " + edition);
        }

        void rebuild() {
            edition++;
        }

        private static void await(CountDownLatch end) {
            try {
                end.await();
            } catch (InterruptedException ex) {
                throw new IllegalStateException(ex);
            }
        }
    }

    static class Search {

        private final Index index;

        Search(Index index) {
            this.index = index;
        }

        // sample: recipe-drain
        @DistributedLock(name = "search-index", permits = "20", waitTime = "10s")
        public List<String> find(String words) {
            return index.find(words);
        }

        @DistributedLock(name = "search-index", waitTime = "1m") // longer than the longest search
        public void rebuild() {
            index.rebuild(); // all permits are back, and new searches wait
        }
        // end
    }
}
