package io.syncguard.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** A limit on the silence of the server, for one of our statements on a connection of the application. */
final class SilenceLimit {

    private static final Log log = LogFactory.getLog(SilenceLimit.class);

    private static final int UNCHANGED = -1;

    private final Connection connection;
    private final int before;

    /** A shorter limit of the application stays. A connection that knows none has no limit of ours either. */
    SilenceLimit(Connection connection, Duration limit) {
        this.connection = connection;
        this.before = shorten(connection, limit);
    }

    private static int shorten(Connection connection, Duration limit) {
        try {
            int before = connection.getNetworkTimeout();
            if (before > 0 && before <= limit.toMillis()) {
                return UNCHANGED;
            }
            PostgresSessions.limitSilence(connection, limit);
            return before;
        } catch (SQLException | AbstractMethodError ex) {
            log.debug("The connection of the application limits no silence of the server", ex);
            return UNCHANGED;
        }
    }

    /** Restores the limit of the application. */
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
