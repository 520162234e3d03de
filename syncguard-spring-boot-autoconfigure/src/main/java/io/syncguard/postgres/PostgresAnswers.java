package io.syncguard.postgres;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockMode;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.ReleaseResult;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads what the server answers to the statements of {@link PostgresLockBackend}. An answer that makes no sense is an
 * exception.
 */
final class PostgresAnswers {

    private PostgresAnswers() {}

    static AcquireResult attempt(ResultSet rows, AcquireRequest claim) throws SQLException {
        rows.next();
        long fence = rows.getLong(1);
        if (rows.wasNull()) {
            Duration timeLeft = Duration.ofMillis(rows.getLong(4));
            AcquireResult.Holder holder = holder(rows);
            return claim.waiter() == null
                    ? new AcquireResult.Refused(timeLeft, holder)
                    : new AcquireResult.Queued(timeLeft, holder);
        }
        if (fence == 0) {
            throw new LockBackendException(
                    LockErrorCode.INTERNAL,
                    "Lock '" + claim.key() + "' has no fences left: its counter is at " + Fence.MAX_VALUE
                            + ". Use another key",
                    null);
        }
        return new AcquireResult.Granted(
                new Fence(fence), Instant.ofEpochMilli(rows.getLong(2)), Instant.ofEpochMilli(rows.getLong(3)));
    }

    private static AcquireResult.@Nullable Holder holder(ResultSet rows) throws SQLException {
        long since = rows.getLong(6);
        if (rows.wasNull()) {
            return null;
        }
        String owner = rows.getString(5);
        return new AcquireResult.Holder(owner == null ? "" : owner, Instant.ofEpochMilli(since), !rows.getBoolean(7));
    }

    static List<Duration> nextLooks(ResultSet rows, int asked) throws SQLException {
        List<Duration> nextLooks = new ArrayList<>();
        while (rows.next()) {
            nextLooks.add(Duration.ofMillis(rows.getLong(1)));
        }
        if (nextLooks.size() != asked) {
            throw new IllegalStateException(asked + " places got " + nextLooks.size() + " answers");
        }
        return nextLooks;
    }

    static List<ExtendResult> extensions(ResultSet rows, int asked) throws SQLException {
        List<ExtendResult> outcomes = new ArrayList<>();
        while (rows.next()) {
            outcomes.add(
                    switch (rows.getString(1)) {
                        case "extended" -> new ExtendResult.Extended(Instant.ofEpochMilli(rows.getLong(2)));
                        case "busy" -> new ExtendResult.Busy();
                        case "expired" -> new ExtendResult.Expired();
                        case "not_found" -> new ExtendResult.NotFound();
                        default -> throw new IllegalStateException("An unknown answer to an extension");
                    });
        }
        if (outcomes.size() != asked) {
            throw new IllegalStateException(asked + " extensions got " + outcomes.size() + " answers");
        }
        return outcomes;
    }

    static ExtendResult rotation(ResultSet rows) throws SQLException {
        rows.next();
        return switch (rows.getString(1)) {
            case "rotated" ->
                new ExtendResult.Rotated(Instant.ofEpochMilli(rows.getLong(2)), new Fence(rows.getLong(3)));
            case "busy" -> new ExtendResult.Busy();
            case "expired" -> new ExtendResult.Expired();
            case "not_found" -> new ExtendResult.NotFound();
            case "no_fences" ->
                throw new LockBackendException(
                        LockErrorCode.INTERNAL,
                        "Its key has no fences left: the counter is at " + Fence.MAX_VALUE + ". Use another key",
                        null);
            default -> throw new IllegalStateException("An unknown answer to a rotation");
        };
    }

    static ReleaseResult release(ResultSet rows) throws SQLException {
        rows.next();
        return outcome(rows);
    }

    static List<ReleaseResult> releases(ResultSet rows, int asked) throws SQLException {
        List<ReleaseResult> outcomes = new ArrayList<>();
        while (rows.next()) {
            outcomes.add(outcome(rows));
        }
        if (outcomes.size() != asked) {
            throw new IllegalStateException(asked + " releases got " + outcomes.size() + " answers");
        }
        return outcomes;
    }

    private static ReleaseResult outcome(ResultSet rows) throws SQLException {
        return switch (rows.getString(1)) {
            case "released" -> ReleaseResult.RELEASED;
            case "left" -> ReleaseResult.LEFT;
            case "busy" -> ReleaseResult.BUSY;
            case "expired" -> ReleaseResult.EXPIRED;
            case "not_found" -> ReleaseResult.NOT_FOUND;
            default -> throw new IllegalStateException("An unknown answer to a release");
        };
    }

    /** Empty where there is no lease, false where all are over. */
    static Optional<Boolean> isLocked(ResultSet rows) throws SQLException {
        rows.next();
        boolean answer = rows.getBoolean(1);
        return rows.wasNull() ? Optional.empty() : Optional.of(answer);
    }

    static List<RawLockInfo> infos(ResultSet rows) throws SQLException {
        List<RawLockInfo> infos = new ArrayList<>();
        while (rows.next()) {
            String owner = rows.getString("owner");
            infos.add(new RawLockInfo(
                    rows.getString("user_key"),
                    rows.getString("lock_id"),
                    LockMode.valueOf(rows.getString("mode")),
                    Instant.ofEpochMilli(rows.getLong("acquired_at_ms")),
                    Instant.ofEpochMilli(rows.getLong("expires_at_ms")),
                    new Fence(Long.parseLong(rows.getString("fence"))),
                    owner == null ? "" : owner));
        }
        return infos;
    }
}
