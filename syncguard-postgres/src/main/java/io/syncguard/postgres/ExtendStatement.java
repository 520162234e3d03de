package io.syncguard.postgres;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;

/** Extends leases: many at once, or a single one that also takes the next fence. */
final class ExtendStatement {

    private static final String EXTEND = """
            SELECT outcome, extended_until_ms
            FROM ${syncguard_locks}_extend(?::TEXT[], ?::BIGINT[])
            """;

    private static final String ROTATE = """
            SELECT outcome, rotated_until_ms, rotated_fence
            FROM ${syncguard_locks}_rotate(?::TEXT, ?::BIGINT)
            """;

    private final String extend;
    private final String rotate;

    ExtendStatement(PostgresTables tables) {
        this.extend = tables.fill(EXTEND);
        this.rotate = tables.fill(ROTATE);
    }

    List<ExtendResult> run(PostgresConnections connections, List<ExtendRequest> extensions) {
        Object[] lockIds = extensions.stream().map(each -> each.id().lockId()).toArray();
        Object[] ttls = extensions.stream().map(each -> each.ttl().toMillis()).toArray();
        Duration shortest = extensions.stream()
                .map(ExtendRequest::ttl)
                .min(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
        return connections.query(
                "extending " + extensions.size() + " lock(s)",
                shortest,
                extend,
                (connection, statement) -> {
                    statement.setArray(1, connection.createArrayOf("text", lockIds));
                    statement.setArray(2, connection.createArrayOf("bigint", ttls));
                },
                rows -> PostgresRows.oneForEach(extensions.size(), rows, ExtendStatement::extension));
    }

    ExtendResult rotate(PostgresConnections connections, ExtendRequest extension) {
        return connections.query(
                "taking the next fence for a lock",
                extension.ttl(),
                rotate,
                (connection, statement) -> {
                    statement.setString(1, extension.id().lockId());
                    statement.setLong(2, extension.ttl().toMillis());
                },
                ExtendStatement::rotation);
    }

    private static ExtendResult extension(ResultSet rows) throws SQLException {
        String outcome = rows.getString(1);
        return outcome.equals("extended")
                ? new ExtendResult.Extended(Instant.ofEpochMilli(rows.getLong(2)))
                : failure(outcome);
    }

    private static ExtendResult rotation(ResultSet rows) throws SQLException {
        rows.next();
        String outcome = rows.getString(1);
        return switch (outcome) {
            case "rotated" ->
                new ExtendResult.Rotated(Instant.ofEpochMilli(rows.getLong(2)), new Fence(rows.getLong(3)));
            case "no_fences" ->
                throw new LockBackendException(
                        LockErrorCode.INTERNAL,
                        "Its key has no fences left: the counter is at " + Fence.MAX_VALUE + ". Use another key",
                        null);
            default -> failure(outcome);
        };
    }

    private static ExtendResult failure(String outcome) {
        return switch (outcome) {
            case "busy" -> new ExtendResult.Busy();
            case "expired" -> new ExtendResult.Expired();
            case "not_found" -> new ExtendResult.NotFound();
            default -> throw new IllegalStateException("An unknown answer to an extension");
        };
    }
}
