package io.syncguard.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.testing.DocumentedRights;
import io.syncguard.testing.DocumentedRights.Right;
import io.syncguard.testing.HostileObjects;
import io.syncguard.testing.PostgresServer;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** {@link FenceGuard} for a role with the rights that {@code docs/security.md} asks for. */
class PostgresFenceRightsTests {

    private static final Right CONNECT = new Right("CONNECT", "DATABASE shop");

    private final String url = PostgresServer.newDatabaseUrl();
    private final DocumentedRights role = DocumentedRights.noneIn(url);

    @BeforeEach
    void createTable() {
        new FenceSchema(PostgresServer.dataSource(url), FenceGuard.DEFAULT_TABLE).initialize();
        role.grant(CONNECT);
        role.grant("rights-fences");
    }

    @Test
    void each_of_them_is_needed() {
        assertThatCode(this::checkFence).doesNotThrowAnyException();

        assertThat(DocumentedRights.of("rights-fences")).hasSize(4).allSatisfy(right -> {
            role.revoke(right);
            assertThatExceptionOfType(LockException.class)
                    .isThrownBy(this::checkFence)
                    .satisfies(
                            ex -> assertThat(ex.code()).isIn(LockErrorCode.AUTH_FAILED, LockErrorCode.SCHEMA_MISSING));
            role.grant(right);
        });
    }

    /** Functions and operators that fit its calls better than those of PostgreSQL. */
    @Tag("verification")
    @Test
    void nothing_that_a_stranger_created_is_called() {
        JdbcTemplate administrator = new JdbcTemplate(PostgresServer.dataSource(url + "&currentSchema=pg_catalog"));
        administrator.execute("CREATE EXTENSION pg_stat_statements SCHEMA public");
        everything();
        HostileObjects hostile = HostileObjects.in(
                url,
                "public",
                administrator.queryForList(
                        "SELECT query FROM public.pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid"
                                + " WHERE d.datname = current_database()",
                        String.class));
        assertThat(hostile.size()).isGreaterThan(4000);

        everything();

        hostile.assertNotCalled();
    }

    private void everything() {
        new FenceSchema(role.dataSource(), FenceGuard.DEFAULT_TABLE).check();
        checkFence();
    }

    private void checkFence() {
        DataSource connections = role.dataSource();
        new TransactionTemplate(new JdbcTransactionManager(connections))
                .executeWithoutResult(status -> new FenceGuard(connections).check("account:42", new Fence(7)));
    }
}
