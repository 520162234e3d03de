package io.syncguard.postgres;

import io.syncguard.concurrent.Time;
import io.syncguard.jdbc.Sweeper;
import io.syncguard.spi.FenceSource;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/**
 * Deletes fence counters that are idle for longer than the retention, if fences come from the clock. It scans their
 * whole table seven times per retention, a thousand counters at a time. Only the sweeping thread uses it.
 */
final class PostgresCounterSweeper {

    private static final String FORGET = """
            SELECT ${syncguard_locks}_forget(?::TEXT, ?::BIGINT)
            """;

    private final PostgresConnections connections;
    private final String forget;
    private final long retentionMillis;
    private final long interval;
    private final Time time;

    private long nextSweep;

    PostgresCounterSweeper(PostgresConnections connections, PostgresSettings settings, Time time) {
        this.connections = connections;
        this.forget = settings.tables().fill(FORGET);
        this.retentionMillis = settings.fences().retention().toMillis();
        this.interval = settings.fences().retention().toNanos() / 7;
        this.time = time;
        this.nextSweep = settings.fences().source() == FenceSource.CLOCK
                ? Sweeper.firstAfter(Duration.ofNanos(interval), time)
                : Time.NEVER;
    }

    /** If a sweep is due, scans the table to its end, or until the process stops. */
    void sweepIfDue(BooleanSupplier stopped) {
        if (time.nanoTime() < nextSweep) {
            return;
        }
        nextSweep = time.nanoTime() + interval;
        String last = "";
        do {
            last = forgetBehind(last);
        } while (!last.isEmpty() && !stopped.getAsBoolean());
    }

    /** Returns the last fence key of the thousand; an empty text at the end of the table. */
    private String forgetBehind(String last) {
        return connections.query(
                "deleting idle fence counters",
                forget,
                (connection, statement) -> {
                    statement.setString(1, last);
                    statement.setLong(2, retentionMillis);
                },
                rows -> rows.next() ? Objects.requireNonNullElse(rows.getString(1), "") : "");
    }
}
