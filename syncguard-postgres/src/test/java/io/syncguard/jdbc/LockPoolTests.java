package io.syncguard.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import io.syncguard.core.ManualTime;
import io.syncguard.testing.PostgresProxy;
import io.syncguard.testing.PostgresServer;
import java.net.ConnectException;
import java.sql.Connection;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

/** A pool that closes while a connection is used, and one whose first connection breaks. */
class LockPoolTests {

    private final String url = PostgresServer.newDatabaseUrl();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void stopThreads() {
        threads.shutdownNow();
    }

    @Test
    void a_connection_that_is_used_when_the_pool_closes_comes_back_first() throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        ManualTime time = new ManualTime();
        LockPool pool = new LockPool(config, time);
        CompletableFuture<Void> closing;
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            closing = CompletableFuture.runAsync(pool::close, threads);
            await().until(() -> catchThrowable(pool::getConnection) != null);

            await().until(() -> time.sleepers() == 1);
            assertThat(statement.execute("SELECT 1")).isTrue();
        }
        time.advance(Duration.ofMillis(1));
        closing.join();
        await().untilAsserted(() -> assertThat(sessions()).isZero());
    }

    /** A body that closes its own application is interrupted by its loss. */
    @Test
    void an_interrupt_of_the_thread_that_closes_the_pool_leaves_no_connection() throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        LockPool pool = new LockPool(config);
        FutureTask<Boolean> closing = new FutureTask<>(() -> {
            pool.close();
            return Thread.interrupted();
        });
        Thread thread = new Thread(closing);
        try (Connection used = pool.getConnection()) {
            assertThat(used.isClosed()).isFalse();
            thread.start();
            await().until(() -> catchThrowable(pool::getConnection) != null);

            thread.interrupt();
            thread.join();
        }

        assertThat(closing.get()).isTrue();
        await().untilAsserted(() -> assertThat(sessions()).isZero());
        await().until(() -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(each -> each.getName().startsWith(config.getPoolName())));
    }

    @Test
    void a_connection_that_breaks_while_the_pool_learns_its_isolation_does_not_spoil_the_pool() throws Exception {
        try (PostgresProxy proxy = new PostgresProxy(url)) {
            proxy.loseAnswerTo("TRANSACTION ISOLATION LEVEL");
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(proxy.url());
            config.setMaximumPoolSize(1);
            config.setConnectionTimeout(10_000);
            config.setInitializationFailTimeout(-1);

            try (LockPool pool = new LockPool(config);
                    Connection connection = pool.getConnection()) {
                assertThat(connection.isValid(1)).isTrue();
            }
        }
    }

    /** HikariCP tells only one of the threads that wait why it cannot connect. */
    @Test
    void all_threads_that_wait_learn_that_the_connection_was_refused() throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:postgresql://127.0.0.1:1/none");
        config.setMaximumPoolSize(1);
        config.setConnectionTimeout(1000);
        config.setInitializationFailTimeout(-1);

        try (LockPool pool = new LockPool(config)) {
            List<CompletableFuture<Throwable>> failures = Stream.generate(
                            () -> CompletableFuture.supplyAsync(() -> catchThrowable(pool::getConnection), threads))
                    .limit(6)
                    .toList();
            assertThat(failures)
                    .allSatisfy(each -> assertThat(each.join())
                            .isInstanceOf(SQLTransientConnectionException.class)
                            .hasRootCauseInstanceOf(ConnectException.class));
        }
    }

    private int sessions() {
        return new JdbcTemplate(PostgresServer.dataSource(url))
                .queryForObject(
                        "SELECT count(*) FROM pg_stat_activity"
                                + " WHERE datname = current_database() AND pid <> pg_backend_pid()",
                        Integer.class);
    }
}
