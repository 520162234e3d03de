package io.syncguard.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.testing.PostgresServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;

/** Somebody else may create in the schema of the fences on PostgreSQL, or has changed what their table keeps. */
class PostgresFenceTableTests {

    private final String url = PostgresServer.newDatabaseUrl();
    private final JdbcTemplate administrator = new JdbcTemplate(PostgresServer.dataSource(url));
    private final String database = administrator.queryForObject("SELECT current_database()", String.class);
    private final String attacker = "attacker_in_" + database;
    private final String billing = "billing_in_" + database;

    @BeforeEach
    void createRoles() {
        for (String role : List.of(attacker, billing)) {
            administrator.execute(
                    "CREATE ROLE " + role + " LOGIN PASSWORD 'secret'; GRANT CREATE ON SCHEMA public TO " + role);
        }
        administrator.execute("CREATE SEQUENCE trapped; GRANT ALL ON SEQUENCE trapped TO PUBLIC");
        as(attacker)
                .execute("CREATE FUNCTION trap() RETURNS BIGINT LANGUAGE sql AS $$ SELECT nextval('trapped') $$;"
                        + " CREATE FUNCTION trap_row() RETURNS TRIGGER LANGUAGE plpgsql AS"
                        + " 'BEGIN PERFORM trap(); RETURN NEW; END'");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE TABLE syncguard_fences (resource TEXT PRIMARY KEY, fence BIGINT CHECK (trap() > 0))",
                "CREATE VIEW syncguard_fences AS SELECT 'a' AS resource, trap() AS fence",
            })
    void a_table_of_a_stranger_is_refused_before_it_is_used(String planted) {
        as(attacker).execute(planted + "; GRANT ALL ON syncguard_fences TO PUBLIC");

        for (JdbcTemplate user : List.of(administrator, as(billing))) {
            assertRefused(user, "belongs to '" + attacker + "'");
            assertThatThrownBy(() -> user.execute(script())).rootCause().hasMessageContaining("belongs to " + attacker);
        }
        assertThat(administrator.queryForObject("SELECT is_called FROM trapped", Boolean.class))
                .isFalse();
    }

    @Test
    void a_trigger_of_a_stranger_is_refused() {
        schema(administrator).initialize();
        administrator.execute("GRANT TRIGGER ON syncguard_fences TO " + attacker);
        as(attacker)
                .execute("CREATE TRIGGER watch BEFORE UPDATE ON syncguard_fences FOR EACH ROW"
                        + " EXECUTE FUNCTION trap_row()");

        assertRefused(administrator, "trigger watch 'trap_row()' of the fences belongs to '" + attacker + "'");
    }

    /** Such as a role that migrates, where another one only checks. */
    @Test
    void the_owner_of_the_table_is_no_stranger_to_a_user_who_may_not_create() throws IOException {
        as(attacker).execute(script() + "; GRANT ALL ON syncguard_fences TO PUBLIC");
        administrator.execute("REVOKE CREATE ON SCHEMA public FROM " + billing);

        assertThatCode(() -> schema(as(billing)).initialize()).doesNotThrowAnyException();
    }

    @Test
    void row_level_security_is_found_at_the_start() {
        schema(administrator).initialize();
        administrator.execute("GRANT ALL ON syncguard_fences TO PUBLIC;"
                + " ALTER TABLE syncguard_fences ENABLE ROW LEVEL SECURITY;"
                + " CREATE POLICY all_rows ON syncguard_fences USING (resource <> 'account:42')");

        assertRefused(as(billing), "Row level security is on for the table of the fences");
        assertThatCode(() -> schema(administrator).check()).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "INSERT | RETURN NULL",
                "INSERT | NEW.fence := 0; RETURN NEW",
            })
    void a_trigger_that_does_not_keep_the_row_is_found_at_the_start(String event, String body) {
        schema(administrator).initialize();
        administrator.execute("CREATE FUNCTION watch() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN " + body
                + "; END $$; CREATE TRIGGER watch BEFORE " + event + " ON syncguard_fences FOR EACH ROW"
                + " EXECUTE FUNCTION watch()");

        assertThatExceptionOfType(LockSetupException.class)
                .isThrownBy(() -> schema(administrator).check())
                .withMessageContaining("does not keep a row as it is written");
    }

    private static void assertRefused(JdbcTemplate user, String message) {
        assertThatExceptionOfType(LockSetupException.class)
                .isThrownBy(() -> schema(user).initialize())
                .withMessageContaining(message)
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.AUTH_FAILED));
    }

    /** Returns the script as Flyway runs it. */
    private static String script() throws IOException {
        return new FenceTable(FenceGuard.DEFAULT_TABLE)
                .fill(new ClassPathResource(FenceSchema.location("postgresql") + "/R__syncguard_fences.sql")
                        .getContentAsString(StandardCharsets.UTF_8));
    }

    private JdbcTemplate as(String role) {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setURL(url);
        dataSource.setUser(role);
        dataSource.setPassword("secret");
        return new JdbcTemplate(dataSource);
    }

    private static FenceSchema schema(JdbcTemplate user) {
        DataSource dataSource = Objects.requireNonNull(user.getDataSource());
        return new FenceSchema(dataSource, FenceGuard.DEFAULT_TABLE);
    }
}
