package io.syncguard.postgres;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Renews queue entries. */
final class RenewStatement {

    private static final String RENEW_WAITERS = """
            SELECT lock_id, time_left_ms
            FROM ${syncguard_locks}_renew_waiters(?::TEXT[])
            """;

    private final String renewWaiters;
    private final Duration waiterTtl;

    RenewStatement(PostgresSettings settings) {
        this.renewWaiters = settings.tables().fill(RENEW_WAITERS);
        this.waiterTtl = settings.waiterTtl();
    }

    /**
     * Returns for each waiter the time until its next attempt: zero if it can be granted now, or if its entry was not
     * renewed.
     */
    List<Duration> run(PostgresConnections connections, List<String> lockIds) {
        Map<String, Duration> renewed = connections.query(
                "renewing the queue entries of " + lockIds.size() + " waiter(s)",
                waiterTtl,
                renewWaiters,
                (connection, statement) -> statement.setArray(1, connection.createArrayOf("text", lockIds.toArray())),
                RenewStatement::nextLooks);
        return lockIds.stream()
                .map(lockId -> renewed.getOrDefault(lockId, Duration.ZERO))
                .toList();
    }

    private static Map<String, Duration> nextLooks(ResultSet rows) throws SQLException {
        Map<String, Duration> nextLooks = new HashMap<>();
        while (rows.next()) {
            nextLooks.put(rows.getString(1), Duration.ofMillis(rows.getLong(2)));
        }
        return nextLooks;
    }
}
