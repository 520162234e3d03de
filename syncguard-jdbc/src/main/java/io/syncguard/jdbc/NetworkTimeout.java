package io.syncguard.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** A network timeout for one of our statements on a connection of the application. */
public final class NetworkTimeout {

    private static final Log log = LogFactory.getLog(NetworkTimeout.class);

    private static final int UNCHANGED = -1;

    private final Connection connection;
    private final int before;

    /** Keeps a shorter timeout of the application. A connection that supports no network timeout gets none. */
    public NetworkTimeout(Connection connection, Duration limit) {
        this.connection = connection;
        this.before = shorten(connection, limit);
    }

    /** Sets the timeout. Only the driver uses it, so there is no round trip. A pool resets it. */
    public static void set(Connection connection, Duration limit) throws SQLException {
        connection.setNetworkTimeout(Runnable::run, Math.toIntExact(limit.toMillis()));
    }

    private static int shorten(Connection connection, Duration limit) {
        try {
            int before = connection.getNetworkTimeout();
            if (before > 0 && before <= limit.toMillis()) {
                return UNCHANGED;
            }
            set(connection, limit);
            return before;
        } catch (SQLException | UnsupportedOperationException | AbstractMethodError ex) {
            log.debug("The connection of the application supports no network timeout", ex);
            return UNCHANGED;
        }
    }

    /** Restores the timeout of the application. */
    public void end() {
        if (before == UNCHANGED) {
            return;
        }
        try {
            connection.setNetworkTimeout(Runnable::run, before);
        } catch (SQLException ex) {
            log.debug("The connection of the application is broken", ex);
        }
    }
}
