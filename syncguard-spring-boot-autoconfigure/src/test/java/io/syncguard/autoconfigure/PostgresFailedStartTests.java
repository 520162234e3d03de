package io.syncguard.autoconfigure;

import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import com.zaxxer.hikari.HikariDataSource;
import io.lettuce.core.RedisClient;
import io.syncguard.embedded.OwnPostgres;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.postgres.PostgresSchema;
import io.syncguard.postgres.PostgresTables;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.PgBouncer;
import io.syncguard.testing.PostgresServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.Driver;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** What a person reads if an application with locks in PostgreSQL does not start. */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(120)
class PostgresFailedStartTests {

    private final FailedStart start;

    PostgresFailedStartTests(CapturedOutput output) {
        this.start = new FailedStart(output);
    }

    @Test
    void without_an_url() {
        start.reads("no-url");
    }

    /** Only the application itself has no database, because its locks are in memory. */
    @Test
    void without_an_url_that_the_locks_need() {
        start.with(LocksInMemory.class).with("spring.profiles.active=test").reads("no-url-for-the-application");
    }

    @Test
    void without_a_data_source() {
        start.with(FailedStart.NO_DATA_SOURCE, "syncguard.backend=postgres").reads("no-data-source");
    }

    @Test
    void with_an_url_of_which_no_data_source_is_made() {
        start.with(FailedStart.NO_DATA_SOURCE, "syncguard.backend=postgres")
                .with("spring.datasource.url=jdbc:postgresql://127.0.0.1/shop")
                .reads("no-data-source-made");
    }

    @Test
    void with_a_mocked_data_source() {
        start.with(MockedDataSource.class).reads("mocked-data-source");
    }

    @Test
    void with_a_mocked_pool() {
        start.with(MockedPool.class).reads("mocked-data-source");
    }

    @ParameterizedTest
    @ValueSource(classes = {MockedConnection.class, DeepStubs.class})
    void with_a_mocked_connection(Class<?> mocked) {
        start.with(mocked).reads("mocked-data-source");
        start.with("syncguard.enabled=false", "syncguard.fencing.enabled=true").reads("mocked-data-source");
    }

    @Test
    void with_a_mocked_data_source_of_the_fences() {
        start.with(MockedDataSource.class)
                .with("syncguard.enabled=false", "syncguard.fencing.enabled=true")
                .reads("mocked-data-source");
    }

    @Test
    void with_a_pool_over_a_mock() {
        start.with(PoolOverAMock.class).reads("data-source-fails");
    }

    @Test
    void without_the_libraries_of_any_store() {
        start.with(FailedStart.NO_DATA_SOURCE)
                .without(HikariDataSource.class, RedisClient.class)
                .reads("no-libraries");
    }

    @Test
    void without_the_library_of_the_chosen_store() {
        start.with("syncguard.backend=postgres")
                .with(FailedStart.NO_DATA_SOURCE)
                .without(Driver.class)
                .reads("no-library-postgres");
    }

    @ParameterizedTest
    @ValueSource(strings = {"flyway", "initialize", "none"})
    void on_another_product(String schemaManagement) {
        start.with(
                        "syncguard.backend=postgres",
                        "spring.datasource.url=jdbc:h2:mem:orders",
                        "spring.flyway.enabled=true",
                        "syncguard.postgres.schema-management=" + schemaManagement)
                .reads("not-postgresql");
    }

    @Test
    void with_two_data_sources_and_no_mark() {
        start.with(TwoDataSources.class).reads("two-data-sources");
    }

    @Test
    void with_two_marked_data_sources() {
        start.with(TwoMarkedDataSources.class).reads("two-marked-data-sources");
    }

    @Test
    void with_a_data_source_that_routes_to_several() {
        start.with(RoutingDataSource.class).reads("routing-data-source");
    }

    @Test
    void with_a_data_source_that_needs_a_tenant() {
        start.with(TenantOfTheThread.class).reads("tenant-of-the-thread");
    }

    @Test
    void with_a_wrapper_around_a_marked_pool_that_is_too_small() {
        start.with(SmallPool.class).reads("small-marked-pool");
    }

    @ParameterizedTest
    @ValueSource(strings = {"flyway", "none"})
    void on_a_database_without_the_tables(String schemaManagement) {
        start.with(
                        "spring.datasource.url=" + PostgresServer.newDatabaseUrl(),
                        "syncguard.postgres.schema-management=" + schemaManagement)
                .reads("no-tables");
    }

    @Test
    void as_a_user_who_may_not_create_the_tables() {
        TestDatabase database = TestDatabase.empty();
        String role = database.newRole();
        start.with(database.loginOf(role))
                .with("syncguard.postgres.locks-table=shop_locks")
                .whereas(role, "orders")
                .reads("no-right-to-create");
    }

    /** What the message of the first start asked for is done. */
    @ParameterizedTest
    @CsvSource({"auto, no-right-to-create-written", "none, no-tables-written"})
    void after_the_script_was_written(String schemaManagement, String mistake, @TempDir Path directory) {
        TestDatabase database = TestDatabase.empty();
        String role = database.newRole();
        start.with(database.loginOf(role))
                .with(
                        "syncguard.postgres.schema-management=" + schemaManagement,
                        "syncguard.postgres.schema-script=" + directory.resolve("syncguard.sql"))
                .whereas(role, "orders")
                .whereas(directory.toString(), "/home/shop")
                .reads(mistake);
    }

    @ParameterizedTest
    @CsvSource({
        "INSERT, syncguard_locks",
        "UPDATE, syncguard_fence_counters",
        "DELETE, syncguard_locks_shared",
        "SELECT, syncguard_locks_waiters",
    })
    void as_a_user_who_may_not_use_all_of_the_tables(String right, String table) {
        TestDatabase database = TestDatabase.withSchema();
        String orders = database.newRole("orders");
        database.jdbc().execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO " + orders);
        database.jdbc().execute("REVOKE " + right + " ON " + table + " FROM " + orders);
        String owner = database.jdbc().queryForObject("SELECT current_user", String.class);
        start.with(database.loginOf(orders))
                .whereas("'" + owner + "'", "'migration'")
                .whereas(orders, "orders")
                .whereas(right + " ", "UPDATE ")
                .whereas(table, "syncguard_locks")
                .reads("no-right-to-table");
    }

    @Test
    void as_a_user_who_may_not_use_what_the_user_of_the_migrations_has_created() {
        TestDatabase database = TestDatabase.empty();
        String orders = database.newRole("orders");
        String migration = database.newRole("migration");
        database.jdbc().execute("GRANT CREATE ON SCHEMA public TO " + migration);
        start.with(database.loginOf(orders))
                .with(
                        "spring.flyway.enabled=true",
                        "spring.flyway.locations=classpath:db/orders",
                        "spring.flyway.user=" + migration,
                        "spring.flyway.password=secret")
                .whereas(orders, "orders")
                .whereas(migration, "migration")
                .reads("no-right-to-use");
    }

    /** All of them, as after ALTER DEFAULT PRIVILEGES, or one. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "ALL FUNCTIONS IN SCHEMA public",
                "FUNCTION syncguard_locks_rotate",
                "FUNCTION syncguard_locks_version",
                "FUNCTION syncguard_locks_now"
            })
    void as_a_user_who_may_not_call_the_functions(String functions) {
        TestDatabase database = TestDatabase.withSchema();
        String orders = database.newRole("orders");
        database.jdbc().execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO " + orders);
        database.jdbc().execute("REVOKE EXECUTE ON " + functions + " FROM PUBLIC");
        String owner = database.jdbc().queryForObject("SELECT current_user", String.class);
        start.with(database.loginOf(orders))
                .whereas("'" + owner + "'", "'migration'")
                .whereas(orders, "orders")
                .reads("no-right-to-call");
    }

    /** A name with the schema, and a table that the search path of the user leads to. */
    @ParameterizedTest
    @CsvSource({"locking., auto", "locking., none", "'', auto", "'', none"})
    void as_a_user_who_may_not_use_the_schema(String prefix, String schemaManagement) {
        TestDatabase database = TestDatabase.empty();
        database.jdbc().execute("CREATE SCHEMA locking");
        PostgresTables tables = new PostgresTables("locking.syncguard_locks", "locking.syncguard_fence_counters");
        new PostgresSchema(PostgresServer.dataSource(database.url()), tables).initialize();
        String orders = database.newRole("orders");
        database.jdbc().execute("GRANT ALL ON ALL TABLES IN SCHEMA locking TO " + orders);
        database.jdbc().execute("ALTER ROLE " + orders + " SET search_path = locking, public");
        String owner = database.jdbc().queryForObject("SELECT current_user", String.class);
        start.with(database.loginOf(orders))
                .with(
                        "syncguard.postgres.locks-table=" + prefix + "syncguard_locks",
                        "syncguard.postgres.fence-counters-table=" + prefix + "syncguard_fence_counters",
                        "syncguard.postgres.schema-management=" + schemaManagement)
                .whereas("'" + owner + "'", "'migration'")
                .whereas(orders, "orders")
                .reads("no-right-to-schema");
    }

    @Test
    void with_a_table_of_the_locks_without_its_unique_index() {
        TestDatabase database = TestDatabase.withSchema();
        database.jdbc().execute("ALTER TABLE syncguard_locks DROP CONSTRAINT syncguard_locks_lock_id_key");
        start.with("spring.datasource.url=" + database.url()).reads("no-unique-index");
    }

    @Test
    void with_a_reserved_word_as_the_name_of_a_table() {
        start.with("spring.datasource.url=" + TestDatabase.empty().url())
                .with("syncguard.postgres.locks-table=order")
                .reads("reserved-word");
    }

    /** The object belongs to a role that may create in the schema of the tables. */
    @Test
    void with_an_object_of_somebody_else() {
        TestDatabase database = TestDatabase.empty();
        String other = database.newRole("billing");
        database.jdbc()
                .execute("CREATE TYPE syncguard_locks_answer AS ENUM ('refused');"
                        + " ALTER TYPE syncguard_locks_answer OWNER TO " + other);
        String user = database.jdbc().queryForObject("SELECT current_user", String.class);
        start.with("spring.datasource.url=" + database.url())
                .whereas(other, "billing")
                .whereas("'" + user + "'", "'orders'")
                .reads("object-of-a-stranger");
    }

    @Test
    void with_a_table_whose_rows_are_hidden() {
        TestDatabase database = TestDatabase.withSchema();
        String orders = database.newRole("orders");
        database.jdbc()
                .execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO " + orders + ";"
                        + " ALTER TABLE syncguard_locks_shared ENABLE ROW LEVEL SECURITY");
        String owner = database.jdbc().queryForObject("SELECT current_user", String.class);
        start.with(database.loginOf(orders))
                .whereas("'" + owner + "'", "'migration'")
                .whereas(orders, "orders")
                .reads("hidden-rows");
    }

    @Test
    void with_a_table_that_is_not_plain() {
        TestDatabase database = TestDatabase.withSchema();
        database.jdbc().execute("CREATE RULE kept AS ON DELETE TO syncguard_locks DO INSTEAD NOTHING");
        start.with("spring.datasource.url=" + database.url()).reads("not-a-plain-table");
    }

    @Test
    void with_a_table_that_does_not_keep_its_rows() {
        TestDatabase database = TestDatabase.withSchema();
        database.jdbc()
                .execute("CREATE FUNCTION audit() RETURNS TRIGGER LANGUAGE plpgsql AS"
                        + " 'BEGIN RETURN NULL; END'; CREATE TRIGGER audit BEFORE INSERT ON syncguard_locks FOR"
                        + " EACH ROW"
                        + " EXECUTE FUNCTION audit()");
        start.with("spring.datasource.url=" + database.url()).reads("row-not-kept");
    }

    @Test
    void with_a_table_of_another_applications_locks() {
        TestDatabase database = TestDatabase.withSchema();
        start.with(
                        "spring.datasource.url=" + database.url(),
                        "syncguard.postgres.locks-table=syncguard_locks_shared",
                        "syncguard.postgres.fence-counters-table=other_counters")
                .reads("neighbour");
    }

    @Test
    void with_a_table_of_the_fences_of_somebody_else() {
        TestDatabase database = TestDatabase.withSchema();
        String other = database.newRole("billing");
        database.jdbc()
                .execute("CREATE TABLE syncguard_fences (resource TEXT PRIMARY KEY, fence BIGINT);"
                        + " ALTER TABLE syncguard_fences OWNER TO " + other);
        String user = database.jdbc().queryForObject("SELECT current_user", String.class);
        start.with("spring.datasource.url=" + database.url(), "syncguard.fencing.enabled=true")
                .whereas(other, "billing")
                .whereas("'" + user + "'", "'orders'")
                .reads("fences-of-a-stranger");
    }

    @Test
    void with_a_table_of_the_fences_whose_rows_are_hidden() {
        TestDatabase database = TestDatabase.withSchema();
        String orders = database.newRole("orders");
        database.jdbc()
                .execute("CREATE TABLE syncguard_fences (resource TEXT PRIMARY KEY, fence BIGINT);"
                        + " ALTER TABLE syncguard_fences ENABLE ROW LEVEL SECURITY;"
                        + " GRANT ALL ON ALL TABLES IN SCHEMA public TO " + orders);
        start.with(database.loginOf(orders))
                .with("syncguard.fencing.enabled=true")
                .whereas(orders, "orders")
                .reads("fences-hidden");
    }

    @Test
    void with_a_table_of_the_fences_that_does_not_keep_its_rows() {
        TestDatabase database = TestDatabase.withSchema();
        database.jdbc()
                .execute("CREATE TABLE syncguard_fences (resource TEXT PRIMARY KEY, fence BIGINT);"
                        + " CREATE FUNCTION audit() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN RETURN"
                        + " NULL; END';"
                        + " CREATE TRIGGER audit BEFORE INSERT ON syncguard_fences FOR EACH ROW EXECUTE"
                        + " FUNCTION audit()");
        start.with("spring.datasource.url=" + database.url(), "syncguard.fencing.enabled=true")
                .reads("fences-not-kept");
    }

    @Test
    void with_a_table_of_the_fences_without_its_unique_index() {
        TestDatabase database = TestDatabase.withSchema();
        database.jdbc().execute("CREATE TABLE syncguard_fences (resource TEXT, fence BIGINT)");
        start.with("spring.datasource.url=" + database.url(), "syncguard.fencing.enabled=true")
                .reads("fences-not-unique");
    }

    @Test
    void with_the_fences_in_a_table_of_the_locks() {
        start.with(
                        "spring.datasource.url=" + PostgresServer.newDatabaseUrl(),
                        "syncguard.fencing.enabled=true",
                        "syncguard.fencing.table=syncguard_locks_shared")
                .reads("fences-in-the-locks");
    }

    @Test
    void as_a_user_who_does_not_exist() {
        TestDatabase database = TestDatabase.empty();
        start.with(database.loginOf("nobody_of_the_shop")).reads("unknown-user");
    }

    @Test
    void on_a_database_that_does_not_exist() {
        start.with("spring.datasource.url=" + PostgresServer.newDatabaseUrl().replaceFirst("test_[0-9_]+", "shop"))
                .reads("unknown-database");
    }

    @Test
    void on_a_server_that_is_down() throws IOException {
        int port = freePort();
        start.with("spring.datasource.url=jdbc:postgresql://127.0.0.1:" + port + "/shop")
                .without(SpringBootTest.class)
                .whereas(":" + port, ":5432")
                .reads("server-down");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "57P03 | the database system is starting up | server-starts",
                "53300 | sorry, too many clients already | no-connection",
                "53100 | could not extend file: No space left on device | no-resources",
                "28P01 | password authentication failed for user \"shop\" | wrong-password",
                "28000 | no pg_hba.conf entry for host \"10.0.0.7\", user \"shop\", database \"shop\", no"
                        + " encryption | no-hba-entry",
            })
    void on_a_server_that_refuses_connections(String state, String words, String mistake) throws IOException {
        try (RefusingPostgres server = new RefusingPostgres(state, words)) {
            start.with("spring.datasource.url=" + server.url()).reads(mistake);
        }
    }

    /** Spring Boot's tests are on the class path. */
    @Test
    void on_a_host_that_does_not_exist() {
        start.with("spring.datasource.url=jdbc:postgresql://shop.invalid/shop").reads("unknown-host");
    }

    @Test
    void on_a_standby() throws IOException {
        try (OwnPostgres server = new OwnPostgres()) {
            server.stop();
            server.startAsStandby();
            start.with("spring.datasource.url=" + server.url()).reads("standby");
        }
    }

    @Test
    void behind_a_pooler_that_lends_sessions_for_statements() {
        String url = PostgresServer.newDatabaseUrl();
        try (PgBouncer pooler = PgBouncer.poolingStatements(url)) {
            start.with("spring.datasource.url=" + pooler.url(url))
                    .afterAWarning()
                    .reads("statement-pooling");
        }
    }

    @Test
    void behind_a_pooler_that_refuses_a_parameter() {
        String url = PostgresServer.newDatabaseUrl();
        try (PgBouncer pooler = PgBouncer.poolingTransactions(url)) {
            start.with("spring.datasource.url=" + pooler.url(url) + "&options=-c%20geqo=off")
                    .reads("startup-parameter");
        }
    }

    @Test
    void with_a_schema_that_does_not_exist() {
        start.with(
                        "spring.datasource.url=" + PostgresServer.newDatabaseUrl(),
                        "syncguard.postgres.locks-table=shop.locks")
                .reads("unknown-schema");
    }

    @Test
    void with_another_table_of_fence_counters() {
        start.with(
                        "spring.datasource.url=" + TestDatabase.withSchema().url(),
                        "syncguard.postgres.fence-counters-table=other_counters")
                .reads("other-counters");
    }

    @Test
    void with_counters_where_fences_come_from_the_clock() {
        start.with(
                        "spring.datasource.url="
                                + TestDatabase.withSchema(FenceSource.CLOCK).url(),
                        "syncguard.fences=counter")
                .reads("counters-after-clock");
    }

    @Test
    void with_the_clock_where_nobody_has_changed_the_functions() {
        start.with(
                        "spring.datasource.url=" + TestDatabase.withSchema().url(),
                        "syncguard.fences=clock",
                        "syncguard.postgres.schema-management=none")
                .reads("clock-after-counters");
    }

    @Test
    void with_a_flyway_that_replaces_no_placeholders() {
        start.with(
                        "spring.datasource.url=" + PostgresServer.newDatabaseUrl(),
                        "spring.flyway.enabled=true",
                        "syncguard.postgres.schema-management=flyway",
                        "spring.flyway.placeholder-replacement=false")
                .reads("flyway-placeholders");
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class LocksInMemory {

        @Bean
        LockBackend lockBackend() {
            return new InMemoryLockBackend();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MockedDataSource {

        @Bean
        DataSource dataSource() {
            return mock(DataSource.class);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MockedConnection {

        @Bean
        DataSource dataSource() throws SQLException {
            DataSource dataSource = mock(DataSource.class);
            Connection connection = mock(Connection.class);
            when(dataSource.getConnection()).thenReturn(connection);
            return dataSource;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class DeepStubs {

        @Bean
        DataSource dataSource() {
            return mock(DataSource.class, RETURNS_DEEP_STUBS);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class PoolOverAMock {

        @Bean
        DataSource dataSource() {
            HikariDataSource pool = new HikariDataSource();
            pool.setDataSource(mock(DataSource.class));
            pool.setConnectionTimeout(250);
            return pool;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MockedPool {

        @Bean
        HikariDataSource dataSource() {
            return mock(HikariDataSource.class);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoDataSources {

        @Bean
        DataSource orders() {
            return PostgresServer.dataSource("jdbc:postgresql://127.0.0.1/orders");
        }

        @Bean
        DataSource customers() {
            return PostgresServer.dataSource("jdbc:postgresql://127.0.0.1/customers");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class RoutingDataSource {

        @Bean
        DataSource tenants() {
            TenantDataSource tenants = new TenantDataSource();
            tenants.setTargetDataSources(Map.of(
                    "north", PostgresServer.dataSource("jdbc:postgresql://127.0.0.1/north"),
                    "south", PostgresServer.dataSource("jdbc:postgresql://127.0.0.1/south")));
            return tenants;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TenantOfTheThread {

        @Bean
        DataSource tenants() {
            return ThreadDependentDataSourceTests.opaque(() -> {
                throw new IllegalStateException("No tenant is set for this thread");
            });
        }
    }

    private static final class TenantDataSource extends AbstractRoutingDataSource {

        @Override
        protected Object determineCurrentLookupKey() {
            return "north";
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class SmallPool {

        @Bean
        @SyncGuardDataSource
        DataSource locks() {
            HikariDataSource pool = new HikariDataSource();
            pool.setJdbcUrl("jdbc:postgresql://127.0.0.1/locks");
            pool.setMaximumPoolSize(10);
            return new WrappedDataSourceTests.CountingWrapper(pool);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoMarkedDataSources {

        @Bean
        @SyncGuardDataSource
        DataSource orders() {
            return PostgresServer.dataSource("jdbc:postgresql://127.0.0.1/orders");
        }

        @Bean
        @SyncGuardDataSource
        DataSource customers() {
            return PostgresServer.dataSource("jdbc:postgresql://127.0.0.1/customers");
        }
    }
}
