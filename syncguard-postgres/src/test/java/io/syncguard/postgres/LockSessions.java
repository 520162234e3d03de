package io.syncguard.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** Connections like those of the backend, for tests that run their own statements under the backend's settings. */
public final class LockSessions {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final PostgresSessions sessions;

    public LockSessions(DataSource dataSource) {
        this(dataSource, PostgresTables.DEFAULT);
    }

    LockSessions(DataSource dataSource, PostgresTables tables) {
        this.sessions = new PostgresSessions(dataSource, TIMEOUT, new PostgresSearchPath(tables));
    }

    public Connection open() throws SQLException {
        return sessions.getConnection();
    }
}
