package io.syncguard.portable;

import io.syncguard.Fence;
import io.syncguard.LockOrder;
import io.syncguard.LockPosition;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.LockSummary;
import io.syncguard.jdbc.JdbcConnections;
import io.syncguard.portable.Session.Answer;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.LockBackend;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Statements on many leases or queue entries, which lock no keys. */
final class LeaseRows {

    private static final String LIVE_LEASE = " WHERE expires_at > %s - " + LockBackend.TOLERANCE_MILLIS;
    private static final String LIVE_ENTRY = " WHERE expires_at > %s";

    private final JdbcConnections connections;
    private final PortableSessions sessions;
    private final String leases;
    private final String waiters;
    private final String clock;
    private final String limit;
    private final long waiterTtlMillis;

    /** @param connections those of the engine */
    LeaseRows(
            JdbcConnections connections,
            PortableSessions sessions,
            Dialect dialect,
            PortableTables tables,
            Duration waiterTtl) {
        this.connections = connections;
        this.sessions = sessions;
        this.leases = tables.leases();
        this.waiters = tables.waiters();
        this.clock = dialect.clock();
        this.limit = dialect.limit();
        this.waiterTtlMillis = waiterTtl.toMillis();
    }

    /**
     * Extends those that are live. A statement never revives a lapsed one.
     *
     * @param shortening extends those that would end earlier than now, whose waiters have to be woken
     */
    List<ExtendResult> extend(
            List<ExtendRequest> requests, Function<List<ExtendRequest>, List<ExtendResult>> shortening) {
        Map<Duration, List<String>> byTtl = new LinkedHashMap<>();
        requests.forEach(request -> byTtl.computeIfAbsent(request.ttl(), ttl -> new ArrayList<>())
                .add(request.id().lockId()));
        List<Sql> statements = new ArrayList<>();
        byTtl.forEach((ttl, ids) -> statements.add(extension(ttl.toMillis(), ids)));
        List<String> all =
                requests.stream().map(request -> request.id().lockId()).toList();
        statements.add(new Sql(
                "SELECT lock_id, expires_at, " + clock + " FROM " + leases + " WHERE lock_id IN ("
                        + Sql.marks(all.size()) + ")",
                all));
        Duration shortest = requests.stream()
                .map(ExtendRequest::ttl)
                .min(Duration::compareTo)
                .orElseThrow();
        List<Answer> answers =
                send("extending " + all.size() + " lock(s)", connections.networkTimeout(shortest), statements);
        Map<String, Row> found = new HashMap<>();
        answers.get(answers.size() - 1).rows().forEach(row -> found.put(row.text(0), row));
        return requests.stream()
                .map(request -> {
                    Row row = found.get(request.id().lockId());
                    return row != null
                                    && row.number(1)
                                            > row.number(2) + request.ttl().toMillis()
                            ? shortening.apply(List.of(request)).get(0)
                            : extended(row);
                })
                .toList();
    }

    private Sql extension(long ttlMillis, List<String> ids) {
        List<Object> parameters = new ArrayList<>(List.of(ttlMillis));
        parameters.addAll(ids);
        parameters.add(ttlMillis);
        return new Sql(
                "UPDATE " + leases + " SET expires_at = " + clock + " + ?, channel = NULL WHERE lock_id IN ("
                        + Sql.marks(ids.size()) + ") AND expires_at > " + clock + " - " + LockBackend.TOLERANCE_MILLIS
                        + " AND expires_at <= " + clock + " + ?",
                parameters);
    }

    private static ExtendResult extended(@Nullable Row lease) {
        if (lease == null) {
            return new ExtendResult.NotFound();
        }
        return lease.number(1) + LockBackend.TOLERANCE_MILLIS > lease.number(2)
                ? new ExtendResult.Extended(Instant.ofEpochMilli(lease.number(1)))
                : new ExtendResult.Expired();
    }

    /** Renews those queue entries that live. */
    void renew(List<KeyedLockId> entries) {
        List<Object> parameters = new ArrayList<>(List.of(waiterTtlMillis));
        entries.forEach(entry -> parameters.add(entry.lockId()));
        send(
                "renewing places in queues",
                null,
                List.of(new Sql(
                        "UPDATE " + waiters + " SET expires_at = " + clock + " + ? WHERE lock_id IN ("
                                + Sql.marks(entries.size()) + ") AND expires_at > " + clock,
                        parameters)));
    }

    /**
     * A message in the rows.
     *
     * @param waiterNumber a new one for each attempt, which resets how often the waiter was woken
     * @param times how often the waiter was woken
     * @param handOver {@code null} for a waiter who has to look
     */
    record Message(String lockId, long waiterNumber, long times, AcquireResult.@Nullable Granted handOver) {}

    /** The messages to a process: leases that others have handed to its waiters, and waiters that others have woken. */
    List<Message> messagesTo(String channel) {
        Sql look = Sql.of(
                "SELECT lock_id, waiter, 0, fence, acquired_at, expires_at FROM " + leases
                        + " WHERE channel = ? UNION ALL SELECT lock_id, waiter, woken, 0, 0, 0 FROM " + waiters
                        + " WHERE channel = ? AND woken > 0",
                channel,
                channel);
        return send("looking for wake-ups", null, List.of(look)).get(0).rows().stream()
                .map(row -> new Message(
                        row.text(0), row.number(1), row.number(2), row.number(2) > 0 ? null : handOver(row)))
                .toList();
    }

    private static AcquireResult.Granted handOver(Row row) {
        return new AcquireResult.Granted(
                new Fence(row.number(3)), Instant.ofEpochMilli(row.number(4)), Instant.ofEpochMilli(row.number(5)));
    }

    /** Keys of leases and queue entries that lapsed two tolerances ago, behind this one in the order of their bytes. */
    List<String> lapsed(String after, int limit) {
        String before = " < " + clock + " - " + 2 * LockBackend.TOLERANCE_MILLIS;
        return keys(
                "looking for lapsed locks",
                "SELECT lock_key FROM " + leases + " WHERE lock_key > ? AND expires_at" + before
                        + " UNION SELECT lock_key FROM " + waiters + " WHERE lock_key > ? AND expires_at" + before,
                limit,
                KeyRows.bytes(after),
                KeyRows.bytes(after));
    }

    /** The positions of keys with live leases or queue entries that fit, behind this one. */
    List<LockPosition> used(LockQuery query, LockPosition after, int limit) {
        return query.order() == LockOrder.KEY
                        && !query.isWaitedFor()
                        && query.owner().isEmpty()
                ? byKey(query, after, limit)
                : sorted(query, after, limit);
    }

    /** Reads no more keys than the indexes show to be on the page. */
    private List<LockPosition> byKey(LockQuery query, LockPosition after, int limit) {
        List<Object> parameters = new ArrayList<>();
        List<String> tables = List.of(leases + LIVE_LEASE.formatted(clock), waiters + LIVE_ENTRY.formatted(clock));
        List<String> selects = new ArrayList<>();
        for (String table : tables) {
            parameters.add(KeyRows.bytes(after.key()));
            selects.add("SELECT lock_key FROM " + table + " AND lock_key > ?" + keys(query, parameters));
        }
        return keys("listing locks", String.join(" UNION ", selects), limit, parameters.toArray()).stream()
                .map(key -> new LockPosition(LockOrder.KEY, 0, key))
                .toList();
    }

    /** Groups all rows that fit. */
    private List<LockPosition> sorted(LockQuery query, LockPosition after, int limit) {
        List<Object> parameters = new ArrayList<>();
        String rows = "SELECT lock_key, acquired_at, expires_at, NULL AS arrived_at, owner FROM " + leases
                + LIVE_LEASE.formatted(clock) + keys(query, parameters)
                + " UNION ALL SELECT lock_key, NULL, NULL, arrived_at, owner FROM " + waiters
                + LIVE_ENTRY.formatted(clock) + keys(query, parameters);
        String fits = query.isWaitedFor() ? " HAVING COUNT(arrived_at) > 0" : " HAVING COUNT(*) > 0";
        if (!query.owner().isEmpty()) {
            fits += " AND SUM(CASE WHEN POSITION(? IN owner) > 0 THEN 1 ELSE 0 END) > 0";
            parameters.add(query.owner());
        }
        parameters.addAll(List.of(after.millis(), after.millis(), KeyRows.bytes(after.key()), limit));
        String millis = switch (query.order()) {
            case KEY -> "MIN(0)";
            case LONGEST_HELD -> "MIN(acquired_at)";
            case LONGEST_WAIT -> "MIN(arrived_at)";
            case ENDS_FIRST -> "MIN(expires_at)";
        };
        Sql select = new Sql(
                "SELECT millis, lock_key FROM (SELECT COALESCE(" + millis + ", " + LockPosition.NONE
                        + ") AS millis, lock_key FROM (" + rows + ") r GROUP BY lock_key" + fits
                        + ") k WHERE millis > ? OR millis = ? AND lock_key > ? ORDER BY millis, lock_key " + this.limit,
                parameters);
        return send("listing locks", null, List.of(select)).get(0).rows().stream()
                .map(row -> new LockPosition(query.order(), row.number(0), row.key(1)))
                .toList();
    }

    /** The conditions on the keys of one table. */
    private static String keys(LockQuery query, List<Object> parameters) {
        byte[] prefix = KeyRows.bytes(query.prefix());
        parameters.addAll(List.of(prefix.length, prefix));
        String conditions = " AND SUBSTRING(lock_key, 1, ?) = ?";
        if (!query.part().isEmpty()) {
            // The bytes of a text in UTF-8 are only where the text is.
            parameters.add(KeyRows.bytes(query.part()));
            conditions += " AND POSITION(? IN lock_key) > 0";
        }
        return conditions;
    }

    /** Counts all live leases and queue entries. */
    LockSummary summary(List<LockStatus> queues) {
        String select = "SELECT COUNT(DISTINCT lock_key), COUNT(*), COALESCE(" + clock + " - MIN(%s), 0) FROM ";
        List<Answer> answers = send(
                "counting locks",
                null,
                List.of(
                        Sql.of(select.formatted("acquired_at") + leases + LIVE_LEASE.formatted(clock)),
                        Sql.of(select.formatted("arrived_at") + waiters + LIVE_ENTRY.formatted(clock))));
        Row ofLeases = answers.get(0).rows().get(0);
        Row ofWaiters = answers.get(1).rows().get(0);
        return new LockSummary(
                ofLeases.number(0),
                ofLeases.number(1),
                ofWaiters.number(0),
                ofWaiters.number(1),
                Duration.ofMillis(ofLeases.number(2)),
                Duration.ofMillis(ofWaiters.number(2)),
                queues);
    }

    private List<String> keys(String doing, String select, int most, Object... parameters) {
        List<Object> all = new ArrayList<>(List.of(parameters));
        all.add(most);
        return send(doing, null, List.of(new Sql(select + " ORDER BY lock_key " + limit, all))).get(0).rows().stream()
                .map(row -> row.key(0))
                .toList();
    }

    private List<Answer> send(String doing, @Nullable Duration limit, List<Sql> statements) {
        JdbcConnections.Call<List<Answer>> call =
                connection -> sessions.on(connection).send(statements);
        return limit == null ? connections.call(doing, call) : connections.call(doing, limit, call);
    }
}
