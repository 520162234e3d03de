package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.concurrent.Time;
import io.syncguard.jdbc.RunningRequests;
import io.syncguard.spi.RequestNotSentException;
import io.syncguard.testing.PostgresServer;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** A statement of the library on a connection that somebody else's transaction uses. */
class CallersTransactionTests {

    private Connection connection;

    /** What somebody else does before our statement is executed. */
    private String justBefore = "SELECT 1";

    private PostgresConnections connections;

    @BeforeEach
    void open() throws SQLException {
        DataSource database = PostgresServer.newDatabase();
        new PostgresSchema(database, PostgresTables.DEFAULT).initialize();
        connection = database.getConnection();
        Connection watched = proxy(
                Connection.class,
                connection,
                result -> result instanceof PreparedStatement statement
                        ? proxy(PreparedStatement.class, statement, UnaryOperator.identity())
                        : result);
        connections = new PostgresConnections(
                new SingleConnectionDataSource(watched, true),
                Duration.ofSeconds(2),
                new PostgresSearchPath(PostgresTables.DEFAULT),
                new RunningRequests(Time.SYSTEM));
        assertThat(ask()).isOne();
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

    @Test
    void it_is_not_sent_if_the_transaction_is_known() throws SQLException {
        connection.setAutoCommit(false);

        assertThatExceptionOfType(RequestNotSentException.class)
                .isThrownBy(this::ask)
                .satisfies(refused -> assertThat(refused.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                .withMessageContaining("part of other transactions")
                .withMessageContaining("@SyncGuardDataSource");

        connection.setAutoCommit(true);
        assertThat(ask()).isOne();
    }

    @Test
    void nor_if_the_transaction_was_begun_by_a_statement() throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("BEGIN");
        }

        assertThatExceptionOfType(RequestNotSentException.class).isThrownBy(this::ask);
    }

    @Test
    void its_answer_does_not_count_if_the_transaction_began_at_the_same_time() {
        justBefore = "BEGIN";

        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(this::ask)
                .satisfies(refused -> assertThat(refused.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                .isNotInstanceOf(RequestNotSentException.class);
    }

    private int ask() {
        return connections.query("asking", "SELECT 1", (any, statement) -> {}, rows -> {
            rows.next();
            return rows.getInt(1);
        });
    }

    private <T> T proxy(Class<T> type, T target, UnaryOperator<Object> results) {
        InvocationHandler handler = (self, method, arguments) -> {
            if (method.getName().equals("executeQuery")) {
                try (Statement other = connection.createStatement()) {
                    other.execute(justBefore);
                }
            }
            try {
                return results.apply(method.invoke(target, arguments));
            } catch (InvocationTargetException ex) {
                throw ex.getTargetException();
            }
        };
        return type.cast(Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {type}, handler));
    }
}
