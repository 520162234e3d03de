package io.syncguard.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * Connections as the backend opens them, for tests that have statements of their own run under the backend's settings.
 */
public final class LockSessions {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final PostgresSessions sessions;

    public LockSessions(DataSource dataSource) {
        this.sessions = new PostgresSessions(dataSource, TIMEOUT);
    }

    public Connection open() throws SQLException {
        return sessions.getConnection();
    }
}
