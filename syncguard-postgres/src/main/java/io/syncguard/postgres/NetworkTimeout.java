package io.syncguard.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** A network timeout for one of our statements on a connection of the application. */
final class NetworkTimeout {

    private static final Log log = LogFactory.getLog(NetworkTimeout.class);

    private static final int UNCHANGED = -1;

    private final Connection connection;
    private final int before;

    /** Keeps a shorter timeout of the application. A connection that supports no network timeout gets none. */
    NetworkTimeout(Connection connection, Duration limit) {
        this.connection = connection;
        this.before = shorten(connection, limit);
    }

    private static int shorten(Connection connection, Duration limit) {
        try {
            int before = connection.getNetworkTimeout();
            if (before > 0 && before <= limit.toMillis()) {
                return UNCHANGED;
            }
            PostgresSessions.setNetworkTimeout(connection, limit);
            return before;
        } catch (SQLException | AbstractMethodError ex) {
            log.debug("The connection of the application supports no network timeout", ex);
            return UNCHANGED;
        }
    }

    /** Restores the timeout of the application. */
    void end() {
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
