package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.DocumentedRights;
import io.syncguard.testing.HostileObjects;
import io.syncguard.testing.PgBouncer;
import io.syncguard.testing.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Somebody may create in a schema on the search path, and defines what fits the calls of the library better than the
 * functions and operators of PostgreSQL do. None of it is ever called.
 */
@Tag("verification")
class HostileSchemaTests {

    private static final PostgresTables ELSEWHERE =
            new PostgresTables("locking.syncguard_locks", "locking.syncguard_fence_counters");

    private final String url = PostgresServer.newDatabaseUrl();
    private final DataSource owner = PostgresServer.dataSource(url);
    private final JdbcTemplate administrator =
            new JdbcTemplate(PostgresServer.dataSource(url + "&currentSchema=pg_catalog"));
    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    @ParameterizedTest
    @CsvSource({"public, COUNTER", "public, CLOCK", "locking, CLOCK"})
    void none_of_it_is_called(String schema, FenceSource fences) throws Exception {
        PostgresTables tables = prepare(schema, fences);
        DocumentedRights role = role(schema);
        everything(tables, fences, role.dataSource());
        HostileObjects hostile = hostileObjects(schema);

        everything(tables, fences, role.dataSource());
        theScript(tables, fences);

        hostile.assertNotCalled();
    }

    @Test
    void none_of_it_is_called_behind_a_pooler() throws Exception {
        PgBouncer.assumeInstalled();
        PostgresTables tables = prepare("public", FenceSource.CLOCK);
        DocumentedRights role = role("public");
        String login = url.replaceFirst("user=[^&]*", "user=" + role.role()).replaceFirst("&password=[^&]*", "")
                + "&password=" + role.password();
        PgBouncer pooler = PgBouncer.poolingTransactions(login);
        opened.add(pooler);
        DataSource pooled = PostgresServer.dataSource(pooler.url(login) + "&prepareThreshold=0");
        everything(tables, FenceSource.CLOCK, pooled);
        HostileObjects hostile = hostileObjects("public");

        everything(tables, FenceSource.CLOCK, pooled);

        hostile.assertNotCalled();
    }

    /** A role may have such a path by default. */
    @Test
    void a_search_path_with_the_catalog_behind_makes_no_difference() throws Exception {
        PostgresTables tables = prepare("public", FenceSource.CLOCK);
        DocumentedRights role = role("public");
        everything(tables, FenceSource.CLOCK, role.dataSource());
        HostileObjects hostile = hostileObjects("public");
        administrator.execute("ALTER ROLE " + role.role() + " SET search_path = public, pg_catalog");

        everything(tables, FenceSource.CLOCK, role.dataSource());
        theScript(tables, FenceSource.CLOCK, "&options=-c%20search_path=public,pg_catalog");

        hostile.assertNotCalled();
    }

    private PostgresTables prepare(String schema, FenceSource fences) {
        administrator.execute("CREATE EXTENSION pg_stat_statements SCHEMA public");
        PostgresTables tables = PostgresTables.DEFAULT;
        if (!schema.equals("public")) {
            administrator.execute("CREATE SCHEMA " + schema);
            tables = ELSEWHERE;
        }
        new PostgresSchema(owner, tables, fences).initialize();
        return tables;
    }

    private DocumentedRights role(String schema) {
        DocumentedRights role = DocumentedRights.noneIn(url);
        administrator.execute("GRANT CONNECT ON DATABASE "
                + administrator.queryForObject("SELECT current_database()", String.class) + " TO " + role.role());
        administrator.execute("""
                GRANT USAGE ON SCHEMA public, %1$s TO %2$s;
                GRANT ALL ON ALL TABLES IN SCHEMA %1$s TO %2$s;
                GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %1$s TO %2$s
                """.formatted(schema, role.role()));
        return role;
    }

    private HostileObjects hostileObjects(String schema) {
        HostileObjects hostile = HostileObjects.in(
                url,
                schema,
                administrator.queryForList(
                        "SELECT query FROM public.pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid"
                                + " WHERE d.datname = current_database()",
                        String.class));
        assertThat(hostile.size()).isGreaterThan(4000);
        return hostile;
    }

    private void everything(PostgresTables tables, FenceSource fences, DataSource role) throws Exception {
        administrator.execute(String.join(
                ", ",
                "TRUNCATE " + qualified(tables.locks()),
                qualified(tables.shared()),
                qualified(tables.waiters()),
                qualified(tables.fenceCounters())));
        StoreCalls others = backend(owner, tables, fences, PostgresBatching.OFF);
        PostgresOperations operations = new PostgresOperations(owner, role, tables, others, fences);
        for (PostgresBatching batching : List.of(PostgresBatching.OFF, PostgresBatching.ALWAYS)) {
            for (Map.Entry<String, PostgresOperations.Operation> operation :
                    operations.of(backend(role, tables, fences, batching)).entrySet()) {
                operation.getValue().run();
            }
        }
        refusedBehindAPinnedLease(backend(role, tables, fences, PostgresBatching.OFF), operations.held(), tables);
        guard(others, role, operations);
    }

    /** The lease has lapsed, and a transaction locks its row. */
    private void refusedBehindAPinnedLease(StoreCalls backend, AcquireRequest held, PostgresTables tables)
            throws SQLException {
        try (Connection connection = administrator.getDataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("UPDATE " + qualified(tables.locks()) + " SET expires_at_ms = 0");
            connection.setAutoCommit(false);
            statement.execute("SELECT FROM " + qualified(tables.locks()) + " FOR KEY SHARE");
            assertThat(backend.acquire(Requests.exclusive(held.key(), "x".repeat(22), Duration.ofMinutes(1), "test")))
                    .isInstanceOf(AcquireResult.Refused.class);
            connection.rollback();
        }
    }

    private static String qualified(String table) {
        return table.contains(".") ? table : "public." + table;
    }

    /** The transactions of the application have its own search path. */
    private static void guard(StoreCalls locks, DataSource application, PostgresOperations operations)
            throws SQLException {
        String lockId = operations.held().lockId();
        try (Connection connection = application.getConnection()) {
            connection.setAutoCommit(false);
            assertThat(locks.pins().whyNot(connection)).isNull();
            assertThat(locks.pins().pin(connection, List.of(lockId)).lockIds()).containsExactly(lockId);
            connection.rollback();
        }
    }

    /** Runs the script as Flyway and others do. */
    private void theScript(PostgresTables tables, FenceSource fences, String... options) throws SQLException {
        try (Connection connection = PostgresServer.dataSource(url + String.join("", options))
                        .getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(new PostgresScript(tables, fences).text());
        }
    }

    private StoreCalls backend(
            DataSource connections, PostgresTables tables, FenceSource fences, PostgresBatching batching) {
        HikariDataSource pool = new HikariDataSource();
        pool.setDataSource(connections);
        pool.setMaximumPoolSize(2);
        StoreCalls backend = batching.backend(
                pool,
                pool,
                connections,
                new PostgresSettings(
                        tables,
                        Duration.ofSeconds(5),
                        Duration.ofMinutes(1),
                        Duration.ZERO,
                        false,
                        FenceSettings.from(fences)),
                pool::close);
        opened.add(backend::close);
        return backend;
    }
}
