package io.syncguard.portable;

import io.syncguard.Fence;
import io.syncguard.LockMode;
import io.syncguard.portable.Session.Answer;
import io.syncguard.rules.KeyChanges;
import io.syncguard.rules.KeyState;
import io.syncguard.rules.LeaseKind;
import io.syncguard.rules.QueueEntry;
import io.syncguard.rules.StoredLease;
import io.syncguard.rules.WakeUp;
import io.syncguard.spi.LockBackend;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads the rows of keys as their states, and writes what the rules have changed. */
final class KeyRows {

    /** How a pin finds a lease, which is by this index. */
    static final String PINNED = "acquired_at = ? AND lock_id = ?";

    /** After this time somebody asks again whether a lapsed lease is still locked. */
    private static final long KEPT_MILLIS = 100;

    private static final String LEASE = "lock_key, lock_id, mode, owner, fence, acquired_at, expires_at";
    private static final String WAITER =
            "lock_key, lock_id, mode, permits, owner, hand_over, channel, waiter," + " arrived_at, expires_at, place";

    private final PortableTables tables;
    private final String clock;
    private final String hint;

    KeyRows(PortableTables tables, Dialect dialect) {
        this.tables = tables;
        this.clock = dialect.clock();
        this.hint = hint(dialect);
    }

    /**
     * The states of keys at one time.
     *
     * @param now the server's clock, read after the rows were locked
     * @param states those whose rows were found
     * @param lastPlaces the last place in the queue of each key
     */
    record States(long now, Map<String, KeyState> states, Map<String, Long> lastPlaces) {

        KeyState of(String key) {
            return states.getOrDefault(key, KeyState.unused(key));
        }
    }

    static byte[] bytes(String key) {
        return key.getBytes(StandardCharsets.UTF_8);
    }

    static List<byte[]> bytes(Collection<String> keys) {
        return keys.stream().map(KeyRows::bytes).toList();
    }

    /** Statements on all tables and columns, for a check that they are there. */
    static List<Sql> readNothing(PortableTables tables, Dialect dialect) {
        return List.of(
                Sql.of("SELECT lock_key, fence FROM " + tables.keys() + " WHERE 1 = 0"),
                Sql.of("SELECT " + LEASE + ", channel, waiter FROM " + tables.leases() + hint(dialect)
                        + " WHERE 1 = 0"),
                Sql.of("SELECT " + WAITER + ", woken FROM " + tables.waiters() + " WHERE 1 = 0"));
    }

    private static String hint(Dialect dialect) {
        Dialect.Pinning pinning = dialect.pinning();
        return pinning == null ? "" : pinning.hint();
    }

    /** Statements that need each right that locks need, beside those on the row of this key. */
    static List<Sql> trials(PortableTables tables, byte[] key) {
        String lockId = UUID.randomUUID().toString();
        String owner = "o".repeat(255);
        return List.of(
                Sql.of("UPDATE " + tables.keys() + " SET fence = ? WHERE lock_key = ?", Long.MAX_VALUE, key),
                Sql.of(
                        "INSERT INTO " + tables.leases() + " (" + LEASE + ", channel, waiter) VALUES " + Sql.rows(1, 9),
                        key,
                        lockId,
                        LockMode.EXCLUSIVE.name(),
                        owner,
                        Long.MAX_VALUE,
                        0L,
                        0L,
                        lockId,
                        0L),
                Sql.of("UPDATE " + tables.leases() + " SET expires_at = 1 WHERE lock_id = ?", lockId),
                Sql.of("DELETE FROM " + tables.leases() + " WHERE lock_id = ?", lockId),
                Sql.of(
                        "INSERT INTO " + tables.waiters() + " (" + WAITER + ", woken) VALUES " + Sql.rows(1, 12),
                        key,
                        lockId,
                        LockMode.EXCLUSIVE.name(),
                        0,
                        owner,
                        0,
                        lockId,
                        0L,
                        0L,
                        0L,
                        1L,
                        0),
                Sql.of("UPDATE " + tables.waiters() + " SET woken = woken + 1 WHERE lock_id = ?", lockId),
                Sql.of("DELETE FROM " + tables.waiters() + " WHERE lock_id = ?", lockId));
    }

    /**
     * The statements that read keys.
     *
     * @param locking how their rows are locked; empty for a look
     */
    List<Sql> read(Collection<String> keys, String locking) {
        List<byte[]> values = bytes(keys);
        String in = " WHERE lock_key IN (" + Sql.marks(values.size()) + ")";
        return List.of(
                new Sql(
                        "SELECT lock_key, fence FROM " + tables.keys() + in
                                + (locking.isEmpty() ? "" : " ORDER BY lock_key " + locking),
                        values),
                Sql.of("SELECT " + clock),
                new Sql("SELECT " + LEASE + " FROM " + tables.leases() + in, values),
                new Sql("SELECT " + WAITER + " FROM " + tables.waiters() + in + " ORDER BY place", values));
    }

    /**
     * Reads the answers to {@link #read}.
     *
     * @param kept the lock ids of lapsed leases that somebody has locked, which keep their keys a little longer
     */
    States states(List<Answer> answers, Set<String> kept) {
        long now = answers.get(1).rows().get(0).number(0);
        Map<String, List<StoredLease>> leases = new HashMap<>();
        for (Row row : answers.get(2).rows()) {
            leases.computeIfAbsent(row.key(0), key -> new ArrayList<>()).add(kept(lease(row), kept, now));
        }
        Map<String, List<QueueEntry>> queues = new HashMap<>();
        Map<String, Long> places = new HashMap<>();
        for (Row row : answers.get(3).rows()) {
            queues.computeIfAbsent(row.key(0), key -> new ArrayList<>()).add(entry(row));
            places.put(row.key(0), row.number(10));
        }
        Map<String, KeyState> states = new LinkedHashMap<>();
        for (Row row : answers.get(0).rows()) {
            String key = row.key(0);
            states.put(
                    key,
                    new KeyState(
                            key,
                            leases.getOrDefault(key, List.of()),
                            queues.getOrDefault(key, List.of()),
                            row.number(1)));
        }
        return new States(now, states, places);
    }

    private static StoredLease kept(StoredLease lease, Set<String> kept, long now) {
        return lease.isLive(now) || !kept.contains(lease.lockId())
                ? lease
                : lease.until(now + KEPT_MILLIS - LockBackend.TOLERANCE_MILLIS);
    }

    private static StoredLease lease(Row row) {
        return new StoredLease(
                row.text(1),
                LockMode.valueOf(row.text(2)),
                row.text(3),
                new Fence(row.number(4)),
                row.number(5),
                row.number(6));
    }

    private static QueueEntry entry(Row row) {
        return new QueueEntry(
                row.text(1),
                new LeaseKind(LockMode.valueOf(row.text(2)), (int) row.number(3)),
                row.text(4),
                row.number(5) == 1,
                row.textOrNull(6),
                row.number(7),
                row.number(8),
                row.number(9));
    }

    /**
     * A key before and after a transaction.
     *
     * @param messages those to other processes, which find them in the rows
     * @param lastPlace the last place in its queue; 0 for an empty one
     */
    record Change(KeyState before, KeyState after, KeyChanges rows, List<WakeUp> messages, long lastPlace) {

        Change(KeyState before, KeyState after, List<WakeUp> messages, long lastPlace) {
            this(before, after, KeyChanges.between(before, after), messages, lastPlace);
        }

        byte[] key() {
            return bytes(after.key());
        }

        /** Where the holder of a new lease receives it: a channel and a waiter; {@code null} and 0 for nowhere. */
        private List<@Nullable Object> address(StoredLease lease) {
            return messages.stream()
                    .filter(each ->
                            each.handOver() != null && each.handOver().fence().equals(lease.fence()))
                    .findFirst()
                    .map(each -> Arrays.<@Nullable Object>asList(each.channel(), each.waiterNumber()))
                    .orElseGet(() -> Arrays.asList(null, 0L));
        }
    }

    /** Locks leases, without those that a transaction of the application or a heartbeat has locked. */
    Sql lockUnlocked(List<StoredLease> chosen) {
        return new Sql(
                "SELECT lock_id, expires_at FROM " + tables.leases() + hint + Sql.anyOf(PINNED, chosen.size())
                        + " FOR UPDATE SKIP LOCKED",
                chosen.stream()
                        .flatMap(lease -> Stream.<Object>of(lease.acquiredAt(), lease.lockId()))
                        .toList());
    }

    /** The statements that write changes: one for the rows of many keys, where that is possible. */
    List<Sql> write(List<Change> changes) {
        List<Sql> statements = new ArrayList<>();
        writeFences(statements, changes);
        writeLeases(statements, changes);
        writeQueues(statements, changes);
        for (Change change : changes) {
            change.messages().stream()
                    .filter(message -> message.handOver() == null)
                    .forEach(message -> statements.add(Sql.of(
                            "UPDATE " + tables.waiters() + " SET woken = woken + 1 WHERE lock_key = ? AND channel = ?"
                                    + " AND waiter = ?",
                            change.key(),
                            message.channel(),
                            message.waiterNumber())));
        }
        return statements;
    }

    private void writeFences(List<Sql> statements, List<Change> changes) {
        Map<Long, List<@Nullable Object>> bySteps = new LinkedHashMap<>();
        for (Change change : changes) {
            Long fence = change.rows().lastFence();
            if (fence != null) {
                bySteps.computeIfAbsent(fence - change.before().lastFence(), steps -> new ArrayList<>(List.of(steps)))
                        .add(change.key());
            }
        }
        bySteps.values()
                .forEach(parameters -> statements.add(new Sql(
                        "UPDATE " + tables.keys() + " SET fence = fence + ? WHERE lock_key IN ("
                                + Sql.marks(parameters.size() - 1) + ")",
                        parameters)));
    }

    private void writeLeases(List<Sql> statements, List<Change> changes) {
        List<String> deleted = new ArrayList<>();
        List<@Nullable Object> inserted = new ArrayList<>();
        List<Sql> updates = new ArrayList<>();
        for (Change change : changes) {
            KeyChanges.Rows<StoredLease> leases = change.rows().leases();
            leases.deleted().stream().map(StoredLease::lockId).forEach(deleted::add);
            leases.updated()
                    .forEach(lease -> updates.add(Sql.of(
                            "UPDATE " + tables.leases() + " SET fence = ?, acquired_at = ?, expires_at = ?,"
                                    + " channel = NULL WHERE lock_id = ?",
                            lease.fence().value(),
                            lease.acquiredAt(),
                            lease.expiresAt(),
                            lease.lockId())));
            leases.inserted().forEach(lease -> {
                inserted.addAll(Arrays.asList(
                        change.key(),
                        lease.lockId(),
                        lease.mode().name(),
                        lease.owner(),
                        lease.fence().value(),
                        lease.acquiredAt(),
                        lease.expiresAt()));
                inserted.addAll(change.address(lease));
            });
        }
        delete(statements, tables.leases(), deleted);
        statements.addAll(updates);
        insert(statements, tables.leases() + " (" + LEASE + ", channel, waiter)", 9, inserted);
    }

    private void writeQueues(List<Sql> statements, List<Change> changes) {
        List<String> deleted = new ArrayList<>();
        List<@Nullable Object> inserted = new ArrayList<>();
        List<Sql> updates = new ArrayList<>();
        for (Change change : changes) {
            KeyChanges.Rows<QueueEntry> queue = change.rows().queue();
            queue.deleted().stream().map(QueueEntry::lockId).forEach(deleted::add);
            queue.updated()
                    .forEach(entry -> updates.add(Sql.of(
                            "UPDATE " + tables.waiters() + " SET mode = ?, permits = ?, owner = ?, hand_over = ?,"
                                    + " channel = ?, waiter = ?, woken = 0, expires_at = ? WHERE lock_id = ?",
                            entry.kind().mode().name(),
                            entry.kind().permits(),
                            entry.owner(),
                            entry.handOver() ? 1 : 0,
                            entry.channel(),
                            entry.waiterNumber(),
                            entry.expiresAt(),
                            entry.lockId())));
            long place = change.lastPlace();
            for (QueueEntry entry : queue.inserted()) {
                inserted.addAll(Arrays.asList(
                        change.key(),
                        entry.lockId(),
                        entry.kind().mode().name(),
                        entry.kind().permits(),
                        entry.owner(),
                        entry.handOver() ? 1 : 0,
                        entry.channel(),
                        entry.waiterNumber(),
                        entry.arrivedAt(),
                        entry.expiresAt(),
                        ++place,
                        0));
            }
        }
        delete(statements, tables.waiters(), deleted);
        statements.addAll(updates);
        insert(statements, tables.waiters() + " (" + WAITER + ", woken)", 12, inserted);
    }

    private static void delete(List<Sql> statements, String table, List<String> lockIds) {
        if (!lockIds.isEmpty()) {
            statements.add(
                    new Sql("DELETE FROM " + table + " WHERE lock_id IN (" + Sql.marks(lockIds.size()) + ")", lockIds));
        }
    }

    private static void insert(List<Sql> statements, String table, int columns, List<@Nullable Object> values) {
        if (!values.isEmpty()) {
            statements.add(
                    new Sql("INSERT INTO " + table + " VALUES " + Sql.rows(values.size() / columns, columns), values));
        }
    }

    /** Locks a key, and deletes its live lease with this lock id unless somebody waits for the key. */
    List<Sql> deleteUnawaited(String key, String lockId) {
        byte[] value = bytes(key);
        return List.of(
                Sql.of("SELECT fence FROM " + tables.keys() + " WHERE lock_key = ? FOR UPDATE", value),
                Sql.of(
                        "DELETE FROM " + tables.leases() + " WHERE lock_id = ? AND lock_key = ? AND expires_at > "
                                + clock
                                + " - " + LockBackend.TOLERANCE_MILLIS + " AND NOT EXISTS (SELECT 1 FROM "
                                + tables.waiters() + " WHERE lock_key = ?)",
                        lockId,
                        value,
                        value));
    }

    /** Finds the key of a lease or a queue entry by its lock id. */
    Sql keyOf(String lockId) {
        return Sql.of(
                "SELECT lock_key FROM " + tables.leases() + " WHERE lock_id = ? UNION ALL SELECT lock_key FROM "
                        + tables.waiters() + " WHERE lock_id = ?",
                lockId,
                lockId);
    }

    static @Nullable String keyIn(Answer answer) {
        return answer.rows().isEmpty() ? null : answer.rows().get(0).key(0);
    }
}
