package io.syncguard.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** What errors of the databases mean for a check. */
@Timeout(60)
class FenceErrorTests {

    private static final String RESOURCE = "order:42";

    @Test
    void a_lock_timeout_is_told_from_other_errors() {
        assertThat(codeOfWaitInVain(FenceDatabases.postgres(), "SET LOCAL lock_timeout = '100ms'"))
                .isEqualTo(LockErrorCode.NETWORK_TIMEOUT);
        assertThat(codeOfWaitInVain(FenceDatabases.h2(), "SET LOCK_TIMEOUT 100"))
                .isEqualTo(LockErrorCode.NETWORK_TIMEOUT);
        assertThat(codeOfWaitInVain(FenceDatabases.mariaDb(), "SET SESSION innodb_lock_wait_timeout = 1"))
                .isEqualTo(LockErrorCode.NETWORK_TIMEOUT);
    }

    @Test
    void a_changed_row_of_mariadb_with_snapshot_isolation_is_a_conflict() {
        DataSource database = created(FenceDatabases.mariaDb());
        assumeTrue(
                new JdbcTemplate(database)
                        .queryForObject("SELECT VERSION()", String.class)
                        .contains("MariaDB"),
                "MySQL has no snapshot isolation");
        TransactionTemplate repeatable = in(database, TransactionDefinition.ISOLATION_REPEATABLE_READ);
        FenceGuard fences = new FenceGuard(database);
        JdbcTemplate jdbc = new JdbcTemplate(database);
        in(database, TransactionDefinition.ISOLATION_DEFAULT)
                .executeWithoutResult(status -> fences.check(RESOURCE, new Fence(1)));

        LockException failure = catchThrowableOfType(
                LockException.class,
                () -> repeatable.executeWithoutResult(status -> {
                    jdbc.execute("SET SESSION innodb_snapshot_isolation = ON");
                    jdbc.queryForList("SELECT * FROM " + FenceGuard.DEFAULT_TABLE);
                    inAnother(database).executeWithoutResult(other -> fences.check(RESOURCE, new Fence(2)));
                    fences.check(RESOURCE, new Fence(3));
                }));

        assertThat(failure.code()).isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE);
    }

    @Test
    void a_user_without_rights_is_told_so() {
        DataSource database = created(FenceDatabases.postgres());

        LockException failure = catchThrowableOfType(
                LockException.class,
                () -> inAnother(database).executeWithoutResult(status -> {
                    new JdbcTemplate(database).execute("SET LOCAL ROLE pg_monitor");
                    new FenceGuard(database).check(RESOURCE, new Fence(1));
                }));

        assertThat(failure.code()).isEqualTo(LockErrorCode.AUTH_FAILED);
        assertThat(FenceErrors.codeOf(new SQLException("H2", "90096", 90096))).isEqualTo(LockErrorCode.AUTH_FAILED);
        assertThat(FenceErrors.codeOf(new SQLException("MariaDB", "42000", 1142)))
                .isEqualTo(LockErrorCode.AUTH_FAILED);
    }

    @Test
    void a_full_disk_is_a_lack_of_resources() {
        assertThat(FenceErrors.codeOf(new SQLException("PostgreSQL", "53100"))).isEqualTo(LockErrorCode.RATE_LIMITED);
        assertThat(FenceErrors.codeOf(new SQLException("MariaDB", "HY000", 1021)))
                .isEqualTo(LockErrorCode.RATE_LIMITED);
        assertThat(FenceErrors.codeOf(new SQLException("MariaDB", "HY000", 1114)))
                .isEqualTo(LockErrorCode.RATE_LIMITED);
    }

    @Test
    void an_answer_that_makes_no_sense_is_no_pass() {
        DataSource database = created(FenceDatabases.postgres());
        new JdbcTemplate(database).execute("""
                CREATE FUNCTION forget() RETURNS TRIGGER LANGUAGE plpgsql AS
                    'BEGIN NEW.fence := 0; RETURN NEW; END';
                CREATE TRIGGER forget BEFORE INSERT OR UPDATE ON syncguard_fences
                    FOR EACH ROW EXECUTE FUNCTION forget()
                """);

        LockException failure = catchThrowableOfType(
                LockException.class,
                () -> inAnother(database)
                        .executeWithoutResult(status -> new FenceGuard(database).check(RESOURCE, new Fence(1))));

        assertThat(failure.code()).isEqualTo(LockErrorCode.INTERNAL);
        assertThat(failure).hasMessageContaining("makes no sense");
    }

    @Test
    void each_sqlstate_has_a_code() {
        assertThat(codeOf("08006")).isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE);
        assertThat(codeOf("25006")).isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE);
        assertThat(codeOf("40P01")).isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE);
        assertThat(codeOf("57P01")).isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE);
        assertThat(codeOf("28P01")).isEqualTo(LockErrorCode.AUTH_FAILED);
        assertThat(codeOf("42501")).isEqualTo(LockErrorCode.AUTH_FAILED);
        assertThat(codeOf("22001")).isEqualTo(LockErrorCode.INVALID_ARGUMENT);
        assertThat(codeOf("23514")).isEqualTo(LockErrorCode.INVALID_ARGUMENT);
        assertThat(codeOf("42S02")).isEqualTo(LockErrorCode.SCHEMA_MISSING);
        assertThat(codeOf("53300")).isEqualTo(LockErrorCode.RATE_LIMITED);
        assertThat(codeOf("57014")).isEqualTo(LockErrorCode.NETWORK_TIMEOUT);
        assertThat(codeOf("42601")).isEqualTo(LockErrorCode.INTERNAL);
        assertThat(codeOf("")).isEqualTo(LockErrorCode.INTERNAL);
    }

    @Test
    void errors_without_an_sqlstate_have_a_code() {
        assertThat(FenceErrors.codeOf(new SQLTransientConnectionException("the pool is exhausted")))
                .isEqualTo(LockErrorCode.RATE_LIMITED);
        assertThat(FenceErrors.codeOf(new SQLTimeoutException("too late"))).isEqualTo(LockErrorCode.NETWORK_TIMEOUT);
        assertThat(FenceErrors.codeOf(new SQLException("interrupted", new InterruptedException())))
                .isEqualTo(LockErrorCode.ABORTED);
        assertThat(FenceErrors.codeOf(new SQLException("something"))).isEqualTo(LockErrorCode.INTERNAL);
        assertThat(FenceErrors.codeOf(
                        new SQLTransientConnectionException("no connection", new SQLException("refused", "08001"))))
                .isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE);
    }

    private static LockErrorCode codeOf(String state) {
        return FenceErrors.codeOf(new SQLException("something", state));
    }

    /** Another transaction has checked the resource, and is still open. */
    private static LockErrorCode codeOfWaitInVain(DataSource database, String limit) {
        created(database);
        FenceGuard fences = new FenceGuard(database);
        JdbcTemplate jdbc = new JdbcTemplate(database);
        LockException failure = in(database, TransactionDefinition.ISOLATION_DEFAULT)
                .execute(status -> {
                    fences.check(RESOURCE, new Fence(1));
                    return catchThrowableOfType(
                            LockException.class,
                            () -> inAnother(database).executeWithoutResult(other -> {
                                jdbc.execute(limit);
                                fences.check(RESOURCE, new Fence(2));
                            }));
                });
        assertThat(failure).isNotInstanceOf(TransactionException.class);
        return failure.code();
    }

    private static DataSource created(DataSource database) {
        new FenceSchema(database, FenceGuard.DEFAULT_TABLE).initialize();
        return database;
    }

    private static TransactionTemplate in(DataSource database, int isolation) {
        DefaultTransactionDefinition definition = new DefaultTransactionDefinition();
        definition.setIsolationLevel(isolation);
        return new TransactionTemplate(new JdbcTransactionManager(database), definition);
    }

    private static TransactionTemplate inAnother(DataSource database) {
        return new TransactionTemplate(
                new JdbcTransactionManager(database),
                new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
    }
}
