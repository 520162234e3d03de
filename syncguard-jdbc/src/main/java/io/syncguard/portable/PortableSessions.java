package io.syncguard.portable;

import io.syncguard.LockBackendException;
import io.syncguard.jdbc.JdbcSessions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;

/** Sets up each connection once, and finds out whether it takes several statements together. Thread-safe. */
final class PortableSessions implements JdbcSessions {

    private final Dialect dialect;
    private final long timeoutMillis;

    /** Whether each of the driver's connections takes several statements together. A pool replaces its connections. */
    private final Map<Connection, Boolean> known = Collections.synchronizedMap(new WeakHashMap<>());

    /** @param timeout maximum wait for an answer of the server */
    PortableSessions(Dialect dialect, Duration timeout) {
        this.dialect = dialect;
        this.timeoutMillis = timeout.toMillis();
    }

    @Override
    public void prepare(Connection connection) throws SQLException {
        Connection driver = driverOf(connection);
        if (!known.containsKey(driver)) {
            try (Statement statement = connection.createStatement()) {
                for (String setting : dialect.sessionSettings(timeoutMillis)) {
                    statement.execute(setting);
                }
            }
            known.put(driver, takesTogether(connection));
        }
    }

    Session on(Connection connection) throws SQLException {
        return new Session(connection, Boolean.TRUE.equals(known.get(driverOf(connection))));
    }

    private Connection driverOf(Connection connection) throws SQLException {
        Connection driver = dialect.ofDriver(connection);
        return driver == null ? connection : driver;
    }

    /** Asks with the parameters of both statements, as requests do. */
    private static boolean takesTogether(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT ? AS a;\nSELECT ? AS b")) {
            statement.setInt(1, 1);
            statement.setInt(2, 2);
            return statement.execute() && statement.getMoreResults();
        } catch (SQLException ex) {
            if (connection.isClosed()) {
                throw ex;
            }
            return false;
        }
    }

    @Override
    public LockBackendException translate(String doing, SQLException error) {
        LockBackendException failure = PortableErrors.translate(doing, error);
        ServerLimit limit = ServerLimit.of(error);
        return limit == null ? failure : limit.addTo(failure, timeoutMillis, timeoutProperty());
    }

    @Override
    public String timeoutProperty() {
        return "syncguard.jdbc.network-timeout";
    }

    @Override
    public boolean isConflict(LockBackendException failure) {
        return PortableErrors.isConflict(failure);
    }
}
