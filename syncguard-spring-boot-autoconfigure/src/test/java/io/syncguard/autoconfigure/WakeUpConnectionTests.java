package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.FutureTask;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.postgresql.Driver;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** Applications get a connection for wake-ups, whatever their {@code DataSource} is, and none if they turn it off. */
class WakeUpConnectionTests {

    private final TestDatabase database = TestDatabase.withSchema();

    @Test
    void behind_lazy_and_wrapped_data_sources() {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(database.url());
        pool.setMaximumPoolSize(1);
        assertWokenThrough(new LazyConnectionDataSourceProxy(pool));
        assertWokenThrough(new DelegatingDataSource(new LazyConnectionDataSourceProxy(pool)));
        assertWokenThrough((DataSource) new ProxyFactory(pool).getProxy());
        assertWokenThrough(new SimpleDriverDataSource(new Driver(), database.url()));
        pool.close();
    }

    @Test
    void behind_a_data_source_that_does_not_reveal_its_url_and_gives_lazy_connections() {
        AbstractRoutingDataSource dataSource = new AbstractRoutingDataSource() {
            @Override
            protected Object determineCurrentLookupKey() {
                return "one";
            }
        };
        dataSource.setTargetDataSources(
                Map.of("one", new LazyConnectionDataSourceProxy(PostgresServer.dataSource(database.url()))));
        dataSource.afterPropertiesSet();

        assertWokenThrough(dataSource);
    }

    @Test
    void none_where_they_are_turned_off_and_waiters_are_served_all_the_same() {
        Applications.on(database.url())
                .withPropertyValues("syncguard.postgres.notify=false")
                .run(application -> {
                    LockManager locks = application.getBean(LockManager.class);
                    LockHandle lock = locks.acquire(LockRequest.of("k"));
                    FutureTask<LockHandle> waiting = waitingFor(locks);
                    eventually().until(() -> queueEntries() == 1);

                    lock.release();

                    eventually().until(waiting::isDone);
                    waiting.get().release();
                    assertThat(Applications.wakeUpsArrive(application)).isFalse();
                    assertThat(listeners()).isZero();
                });
    }

    private void assertWokenThrough(DataSource dataSource) {
        ApplicationContextRunner runner = Applications.withoutDatabase().withBean(DataSource.class, () -> dataSource);
        runner.run(application -> {
            LockManager locks = application.getBean(LockManager.class);
            LockHandle lock = locks.acquire(LockRequest.of("k"));
            assertThat(listeners()).as("before a caller waits").isZero();
            FutureTask<LockHandle> waiting = waitingFor(locks);
            eventually().until(() -> Applications.wakeUpsArrive(application));
            assertThat(listeners()).isEqualTo(1);

            lock.release();

            eventually().until(waiting::isDone);
            waiting.get().release();
        });
    }

    private static FutureTask<LockHandle> waitingFor(LockManager locks) {
        FutureTask<LockHandle> task =
                new FutureTask<>(() -> locks.acquire(LockRequest.of("k").waitTime(Duration.ofMinutes(1))));
        Thread thread = new Thread(task, "waiting");
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    private int queueEntries() {
        return database.jdbc().queryForObject("SELECT count(*) FROM syncguard_locks_waiters", Integer.class);
    }

    private int listeners() {
        return database.jdbc().queryForObject("""
                SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'
                """, Integer.class);
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(5));
    }
}
