package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.postgres.PostgresSchema;
import io.syncguard.postgres.PostgresTables;
import io.syncguard.testing.BugOf;
import io.syncguard.testing.PostgresServer;
import jakarta.annotation.PostConstruct;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DelegatingDataSource;

class SchemaInitializationTests {

    private static final String[] SCHEMA = {
        "syncguard_fence_counters",
        "syncguard_locks",
        "syncguard_locks_acquire",
        "syncguard_locks_acquire_batch",
        "syncguard_locks_acquire_free",
        "syncguard_locks_acquire_free_batch",
        "syncguard_locks_acquire_readers",
        "syncguard_locks_acquire_together",
        "syncguard_locks_blockers",
        "syncguard_locks_delete_lapsed",
        "syncguard_locks_delete_lease",
        "syncguard_locks_extend",
        "syncguard_locks_fence_after",
        "syncguard_locks_fence_counters",
        "syncguard_locks_fence_key",
        "syncguard_locks_fence_source",
        "syncguard_locks_fence_text",
        "syncguard_locks_force_release",
        "syncguard_locks_forget",
        "syncguard_locks_free_readers",
        "syncguard_locks_grant",
        "syncguard_locks_hand_out",
        "syncguard_locks_hand_over",
        "syncguard_locks_idle_counters",
        "syncguard_locks_is_live",
        "syncguard_locks_key_of",
        "syncguard_locks_key_of_fence",
        "syncguard_locks_last_fence",
        "syncguard_locks_leave",
        "syncguard_locks_lock_key",
        "syncguard_locks_lock_keys",
        "syncguard_locks_lockers",
        "syncguard_locks_message",
        "syncguard_locks_next_fence",
        "syncguard_locks_now",
        "syncguard_locks_outcome",
        "syncguard_locks_outcome_of",
        "syncguard_locks_own_lease",
        "syncguard_locks_poll",
        "syncguard_locks_queue_and_hand_over",
        "syncguard_locks_release",
        "syncguard_locks_release_after",
        "syncguard_locks_release_all",
        "syncguard_locks_release_batch",
        "syncguard_locks_renew_waiters",
        "syncguard_locks_rotate",
        "syncguard_locks_shared",
        "syncguard_locks_sweep",
        "syncguard_locks_sweep_before",
        "syncguard_locks_tolerance",
        "syncguard_locks_version",
        "syncguard_locks_waiters",
        "syncguard_locks_wake",
        "syncguard_locks_wake_beside"
    };

    private final TestDatabase database = TestDatabase.empty();

    @Test
    void the_library_makes_tables_and_functions_where_there_is_no_flyway() {
        Applications.on(database.url()).run(application -> {
            assertThat(application).hasNotFailed();
            assertThat(database.relationsAndFunctions()).containsExactly(SCHEMA);
            List<String> locked =
                    application.getBean(LockTemplate.class).execute("order:1", lock -> database.lockedKeys());
            assertThat(locked).containsExactly("order:1");
        });
    }

    @Test
    void flyway_need_not_be_on_the_class_path() {
        Applications.on(database.url())
                .withClassLoader(new FilteredClassLoader(Flyway.class))
                .run(application -> {
                    assertThat(application).hasNotFailed();
                    assertThat(database.relationsAndFunctions()).containsExactly(SCHEMA);
                });
    }

    @Test
    void a_flyway_that_is_switched_off_is_none() {
        Applications.withFlyway(database.url())
                .withPropertyValues("spring.flyway.enabled=false")
                .run(application -> {
                    assertThat(application).hasNotFailed();
                    assertThat(database.relationsAndFunctions()).containsExactly(SCHEMA);
                });
    }

    @Test
    void a_second_start_changes_nothing() {
        Applications.on(database.url()).run(first -> assertThat(first).hasNotFailed());
        List<Map<String, Object>> afterTheFirst = database.catalogue();

        Applications.on(database.url()).run(second -> {
            assertThat(second).hasNotFailed();
            assertThat(database.catalogue()).isEqualTo(afterTheFirst);
        });
    }

    @Test
    void a_role_that_may_make_nothing_starts_where_they_exist() {
        Applications.on(database.url()).run(first -> assertThat(first).hasNotFailed());
        String role = database.newRole();
        database.jdbc().execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
        database.jdbc().execute("REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC");
        database.jdbc().execute("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO " + role);
        database.jdbc()
                .execute("GRANT SELECT, INSERT, UPDATE, DELETE"
                        + " ON syncguard_locks, syncguard_locks_shared, syncguard_locks_waiters TO " + role);
        database.jdbc().execute("GRANT SELECT, INSERT, UPDATE ON syncguard_fence_counters TO " + role);

        Applications.on(database.url())
                .withPropertyValues(database.loginOf(role))
                .run(second -> {
                    assertThat(second).hasNotFailed();
                    List<String> locked =
                            second.getBean(LockTemplate.class).execute("order:1", lock -> database.lockedKeys());
                    assertThat(locked).containsExactly("order:1");
                });
    }

    @Test
    void an_older_version_is_brought_up_to_date() {
        Applications.on(database.url()).run(first -> assertThat(first).hasNotFailed());
        int current = database.jdbc().queryForObject("SELECT syncguard_locks_version()", Integer.class);
        database.jdbc()
                .execute("CREATE OR REPLACE FUNCTION syncguard_locks_version() RETURNS INTEGER LANGUAGE sql AS"
                        + " 'SELECT 0'");

        Applications.on(database.url()).run(second -> {
            assertThat(second).hasNotFailed();
            assertThat(database.jdbc().queryForObject("SELECT syncguard_locks_version()", Integer.class))
                    .isEqualTo(current);
        });
    }

    @Test
    void a_newer_version_is_left_as_it_is() {
        Applications.on(database.url()).run(first -> assertThat(first).hasNotFailed());
        database.jdbc()
                .execute("CREATE OR REPLACE FUNCTION syncguard_locks_version() RETURNS INTEGER LANGUAGE sql AS"
                        + " 'SELECT 1000'");
        List<Map<String, Object>> newer = database.catalogue();

        Applications.on(database.url()).run(second -> {
            assertThat(second).hasNotFailed();
            assertThat(database.catalogue()).isEqualTo(newer);
        });
    }

    @Test
    void the_tables_exist_before_any_bean_locks() {
        Applications.on(database.url())
                .withUserConfiguration(LocksAtItsStart.class)
                .run(application -> {
                    assertThat(application).hasNotFailed();
                    assertThat(application.getBean(Eager.class).seen).containsExactly("eager");
                });
    }

    @BugOf("SyncGuard for TypeScript: CREATE TABLE IF NOT EXISTS of many instances at once fails")
    @Test
    void twenty_initializers_that_have_found_nothing_run_without_an_error_in_the_servers_log() throws Exception {
        int initializers = 20;
        CyclicBarrier connected = new CyclicBarrier(initializers);
        DataSource dataSource = new DelegatingDataSource(PostgresServer.dataSource(database.url())) {
            @Override
            public Connection getConnection() throws SQLException {
                Connection connection = super.getConnection();
                try {
                    connected.await();
                } catch (InterruptedException | BrokenBarrierException ex) {
                    throw new SQLException(ex);
                }
                return connection;
            }
        };
        PostgresSchema schema = new PostgresSchema(dataSource, PostgresTables.DEFAULT);

        assertThat(atOnce(Collections.nCopies(initializers, () -> {
                    schema.initialize();
                    return null;
                })))
                .containsOnlyNulls();
        assertNoErrorOnTheServer();
        assertThat(database.relationsAndFunctions()).containsExactly(SCHEMA);
    }

    private static List<Object> atOnce(List<? extends Callable<?>> tasks) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(tasks.size());
        try {
            List<Object> results = new ArrayList<>();
            for (Future<?> end : tasks.stream().map(threads::submit).toList()) {
                results.add(end.get());
            }
            return results;
        } finally {
            threads.shutdown();
        }
    }

    /**
     * Every error of the server ends a transaction by a rollback; the numbers of a session are there when it has ended.
     */
    private void assertNoErrorOnTheServer() {
        await().atMost(Duration.ofSeconds(10))
                .untilAsserted(() -> assertThat(database.sessions()).isZero());
        assertThat(database.rollbacks()).isZero();
    }

    @Test
    void a_start_in_front_of_an_open_lock_operation_does_not_wait_for_it() {
        Applications.on(database.url())
                .run(first -> first.getBean(LockTemplate.class).execute("order:1", lock -> {
                    Applications.on(database.url())
                            .run(second -> assertThat(
                                            second.getBean(LockManager.class).tryAcquire(LockRequest.of("order:1")))
                                    .isNull());
                    return lock;
                }));
    }

    @Configuration(proxyBeanMethods = false)
    static class LocksAtItsStart {

        @Bean
        Eager eager(LockTemplate locks) {
            return new Eager(locks);
        }
    }

    static final class Eager {

        private final LockTemplate locks;
        private List<String> seen = List.of();

        Eager(LockTemplate locks) {
            this.locks = locks;
        }

        @PostConstruct
        void lock() {
            seen = locks.execute(
                    "eager",
                    lock -> List.of(locks.manager().admin().lookup("eager").isPresent() ? "eager" : "nothing"));
        }
    }
}
