package io.syncguard.portable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.syncguard.LockErrorCode;
import java.io.EOFException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import org.h2.api.ErrorCode;
import org.h2.message.DbException;
import org.h2.tools.Server;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The portable store in H2 with settings that an application may have. */
class H2SettingsTests {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "MODE=MySQL;DATABASE_TO_LOWER=TRUE;CASE_INSENSITIVE_IDENTIFIERS=TRUE",
                "MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH",
                "MODE=Oracle",
                "MODE=MSSQLServer",
                "MODE=DB2",
                "MODE=STRICT",
                "DATABASE_TO_UPPER=FALSE",
                "IGNORECASE=TRUE",
                "LOCK_TIMEOUT=1",
                "AUTOCOMMIT=OFF",
                "TIME ZONE=Asia/Kolkata",
                "NON_KEYWORDS=KEY,VALUE"
            })
    void keeps_locks_whatever_the_application_sets(String settings) {
        UsualLife.passes(new H2Dialect(), "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;" + settings);
    }

    @Test
    void keeps_locks_in_a_file(@TempDir Path directory) {
        UsualLife.passes(new H2Dialect(), "jdbc:h2:file:" + directory.resolve("locks"));
    }

    @Test
    void keeps_locks_in_a_server(@TempDir Path directory) throws SQLException {
        Server server = Server.createTcpServer("-tcpPort", "0", "-ifNotExists", "-baseDir", directory.toString())
                .start();
        try {
            UsualLife.passes(new H2Dialect(), "jdbc:h2:tcp://127.0.0.1:" + server.getPort() + "/./locks");
        } finally {
            server.stop();
        }
    }

    @Test
    void a_server_that_is_gone_is_unavailable_also_for_the_next_request(@TempDir Path directory) throws SQLException {
        Server server = Server.createTcpServer("-tcpPort", "0", "-ifNotExists", "-baseDir", directory.toString())
                .start();
        try (Connection connection =
                DriverManager.getConnection("jdbc:h2:tcp://127.0.0.1:" + server.getPort() + "/./locks")) {
            server.stop();
            for (int request = 0; request < 2; request++) {
                SQLException gone = catchThrowableOfType(
                        SQLException.class, () -> connection.createStatement().execute("SELECT 1"));

                assertThat(PortableErrors.translate("acquiring a lock", gone).code())
                        .isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE);
            }
        }
    }

    /** The server answers so if the connection is cut while it reads. */
    @ParameterizedTest
    @ValueSource(ints = {ErrorCode.IO_EXCEPTION_1, ErrorCode.IO_EXCEPTION_2})
    void a_connection_that_is_cut_off_is_unavailable(int error) {
        SQLException cut = DbException.getJdbcSQLException(error, new EOFException(), "cut", "tcp");

        assertThat(PortableErrors.translate("acquiring a lock", cut).code())
                .isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE);
    }

    @Test
    void a_connection_of_the_application_gets_its_limit_back() throws SQLException {
        H2Dialect dialect = new H2Dialect();
        try (Connection lent = DriverManager.getConnection("jdbc:h2:mem:;LOCK_TIMEOUT=77")) {
            var session = dialect.read(lent);
            new PortableSessions(dialect, Duration.ofSeconds(5)).prepare(lent);

            session.restore(lent);

            ResultSet limit = lent.createStatement().executeQuery("CALL LOCK_TIMEOUT()");
            limit.next();
            assertThat(limit.getLong(1)).isEqualTo(77);
        }
    }
}
