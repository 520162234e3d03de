package io.syncguard.transaction;

import io.syncguard.spi.LeasePins;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
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
     * Finds the connections in the transaction. A global one may have several.
     *
     * @param source the {@code DataSource} of the transaction manager; {@code null} if it is not known. Then the method
     *     looks at each {@code DataSource} that is bound to the thread, and at those of JTA's persistence contexts
     */
    static List<TransactionConnection> find(@Nullable DataSource source) throws SQLException {
        List<TransactionConnection> found = new ArrayList<>();
        try {
            for (DataSource bound : source == null ? allBound() : bound(source)) {
                TransactionConnection connection = inTransaction(bound);
                if (connection != null) {
                    found.add(connection);
                }
            }
            return found;
        } catch (Throwable ex) {
            found.forEach(TransactionConnection::close);
            throw ex;
        }
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
        TransactionConnection found = new TransactionConnection(source);
        if (DataSourceUtils.isConnectionTransactional(found.connection, source) && isInTransaction(found.connection)) {
            return found;
        }
        found.close();
        return null;
    }

    /** A pool of JTA may let a connection join the transaction only when a statement is made. */
    private static boolean isInTransaction(Connection connection) throws SQLException {
        if (connection.getAutoCommit()) {
            connection.createStatement().close();
        }
        return !connection.getAutoCommit();
    }

    private static Set<DataSource> bound(DataSource source) {
        return TransactionSynchronizationManager.hasResource(source) ? Set.of(source) : Set.of();
    }

    private static Set<DataSource> allBound() {
        Set<DataSource> all = JtaPersistence.dataSources();
        TransactionSynchronizationManager.getResourceMap().forEach((key, resource) -> {
            if (resource instanceof ConnectionHolder) {
                all.add((DataSource) key);
            }
        });
        return all;
    }
}
