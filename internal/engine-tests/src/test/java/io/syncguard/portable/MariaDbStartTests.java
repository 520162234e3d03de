package io.syncguard.portable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.embedded.OwnMariaDb;
import io.syncguard.embedded.RunDirectory;
import io.syncguard.testing.CapturedLog;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** What a start says about a server whose settings or tables differ from what locks need. */
class MariaDbStartTests {

    private static final OwnMariaDb SERVER =
            new OwnMariaDb(RunDirectory.newDirectory("mariadb"), "--log-bin", "--binlog-format=ROW", "--sync-binlog=1");

    private final DriverManagerDataSource dataSource = new DriverManagerDataSource(SERVER.url("test"));
    private final JdbcTemplate administrator = new JdbcTemplate(dataSource);
    private final PortableSchema schema =
            new PortableSchema(dataSource, new PortableScript(new MySqlDialect(), PortableTables.DEFAULT), null);
    private final CapturedLog log = new CapturedLog();

    @BeforeEach
    void create() {
        schema.initialize(List::of);
        assertThat(log.messages()).isEmpty();
    }

    @AfterEach
    void drop() {
        log.close();
        administrator.execute("SET GLOBAL read_only = 0, innodb_flush_log_at_trx_commit = 1, sync_binlog = 1,"
                + " binlog_format = ROW");
        administrator.execute("DROP TABLE syncguard_keys, syncguard_leases, syncguard_waiters");
    }

    @AfterAll
    static void stop() {
        SERVER.close();
    }

    @Test
    void a_replica_is_refused() {
        administrator.execute("SET GLOBAL read_only = 1");

        assertThatExceptionOfType(LockSetupException.class)
                .isThrownBy(schema::check)
                .withMessageContaining("leads to a replica")
                .extracting(LockSetupException::code)
                .isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"innodb_flush_log_at_trx_commit = 2", "sync_binlog = 0"})
    void a_server_that_flushes_later_is_a_warning(String setting) {
        administrator.execute("SET GLOBAL " + setting);

        schema.check();

        assertThat(log.messages()).singleElement().asString().contains(setting.replace("=", "is"));
    }

    @Test
    void the_older_way_to_the_disk_is_no_warning() {
        administrator.execute("SET GLOBAL innodb_flush_log_at_trx_commit = 3");

        schema.check();

        assertThat(log.messages()).isEmpty();
    }

    @Test
    void a_server_that_logs_statements_is_refused() {
        administrator.execute("SET GLOBAL binlog_format = STATEMENT");

        assertThatExceptionOfType(LockSetupException.class)
                .isThrownBy(schema::check)
                .withMessageContaining("binlog_format is STATEMENT");
    }

    @Test
    void an_index_that_is_missing_is_a_warning() {
        administrator.execute("ALTER TABLE syncguard_waiters DROP INDEX channel");

        schema.check();

        assertThat(log.messages())
                .singleElement()
                .asString()
                .contains("'syncguard_waiters' has no index that begins with channel");
    }

    @Test
    void a_table_without_the_index_of_pins_is_of_another_version() {
        administrator.execute("ALTER TABLE syncguard_leases DROP INDEX pin");

        assertThatExceptionOfType(LockSetupException.class)
                .isThrownBy(schema::check)
                .extracting(LockSetupException::code)
                .isEqualTo(LockErrorCode.SCHEMA_MISSING);
    }
}
