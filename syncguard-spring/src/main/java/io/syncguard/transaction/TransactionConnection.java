package io.syncguard.transaction;

import io.syncguard.spi.LeasePins;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The JDBC connection of the running thread's transaction. */
final class TransactionConnection implements AutoCloseable {

    private final DataSource source;
    private final Connection connection;

    private TransactionConnection(DataSource source) {
        this.source = source;
        this.connection = DataSourceUtils.getConnection(source);
    }

    /**
     * @param source the {@code DataSource} of the transaction manager; {@code null} if it is not known. Then the method
     *     finds the only {@code DataSource} that is bound to the thread with a connection in a transaction
     * @return {@code null} if there is none, or more than one
     */
    static @Nullable TransactionConnection find(@Nullable DataSource source) throws SQLException {
        TransactionConnection found = null;
        for (DataSource bound : source == null ? allBound() : List.of(source)) {
            TransactionConnection connection = inTransaction(bound);
            if (connection != null && found != null) {
                connection.close();
                found.close();
                return null;
            }
            found = connection == null ? found : connection;
        }
        return found;
    }

    /**
     * Translates an error on a connection of the application. If the application could meet the error without locks,
     * too, the result is what Spring would throw.
     *
     * @param doing the operation, such as {@code guarding a commit under lock 'order:42'}
     * @param pins the pins of the engine that guards
     */
    static RuntimeException translate(String doing, LeasePins pins, SQLException error) {
        if (pins.meaningOf(error) == LeasePins.Failure.STORE) {
            return pins.translate(doing, error);
        }
        DataAccessException known = new SQLExceptionSubclassTranslator().translate(doing, null, error);
        return known == null ? new UncategorizedSQLException(doing, null, error) : known;
    }

    Connection connection() {
        return connection;
    }

    @Override
    public void close() {
        DataSourceUtils.releaseConnection(connection, source);
    }

    /** Returns the connection if it is in a transaction. Spring also binds connections in autocommit. */
    private static @Nullable TransactionConnection inTransaction(DataSource source) throws SQLException {
        if (!TransactionSynchronizationManager.hasResource(source)) {
            return null;
        }
        TransactionConnection found = new TransactionConnection(source);
        if (DataSourceUtils.isConnectionTransactional(found.connection, source) && !found.connection.getAutoCommit()) {
            return found;
        }
        found.close();
        return null;
    }

    private static List<DataSource> allBound() {
        return TransactionSynchronizationManager.getResourceMap().entrySet().stream()
                .filter(resource -> resource.getValue() instanceof ConnectionHolder)
                .map(resource -> (DataSource) resource.getKey())
                .toList();
    }
}
