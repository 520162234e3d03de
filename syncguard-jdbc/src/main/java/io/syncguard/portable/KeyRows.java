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
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads the rows of keys as their states, and writes what the rules have changed. */
final class KeyRows {

    private static final String LEASE = "lock_key, lock_id, mode, owner, fence, acquired_at, expires_at";
    private static final String WAITER =
            "lock_key, lock_id, mode, permits, owner, hand_over, channel, waiter," + " arrived_at, expires_at, place";

    private final PortableTables tables;
    private final String clock;

    KeyRows(PortableTables tables, Dialect dialect) {
        this.tables = tables;
        this.clock = "SELECT " + dialect.clock();
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
    static List<Sql> readNothing(PortableTables tables) {
        return List.of(
                Sql.of("SELECT lock_key, fence FROM " + tables.keys() + " WHERE 1 = 0"),
                Sql.of("SELECT " + LEASE + ", channel, waiter FROM " + tables.leases() + " WHERE 1 = 0"),
                Sql.of("SELECT " + WAITER + ", woken FROM " + tables.waiters() + " WHERE 1 = 0"));
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
        String in = " WHERE lock_key IN (" + Sql.marks(values) + ")";
        return List.of(
                new Sql(
                        "SELECT lock_key, fence FROM " + tables.keys() + in
                                + (locking.isEmpty() ? "" : " ORDER BY lock_key " + locking),
                        values),
                Sql.of(clock),
                new Sql("SELECT " + LEASE + " FROM " + tables.leases() + in, values),
                new Sql("SELECT " + WAITER + " FROM " + tables.waiters() + in + " ORDER BY place", values));
    }

    /** Reads the answers to {@link #read}. */
    States states(List<Answer> answers) {
        Map<String, List<StoredLease>> leases = new HashMap<>();
        for (Row row : answers.get(2).rows()) {
            leases.computeIfAbsent(row.key(0), key -> new ArrayList<>()).add(lease(row));
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
        return new States(answers.get(1).rows().get(0).number(0), states, places);
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
     * The statements that write the changes of a key.
     *
     * @param messages those to other processes, which find them in the rows
     * @param lastPlace the last place in the queue; {@code null} for an empty one
     */
    List<Sql> write(KeyState before, KeyState after, List<WakeUp> messages, @Nullable Long lastPlace, long now) {
        KeyChanges changes = KeyChanges.between(before, after);
        List<Sql> statements = new ArrayList<>();
        byte[] key = bytes(after.key());
        if (changes.lastFence() != null) {
            statements.add(
                    Sql.of("UPDATE " + tables.keys() + " SET fence = ? WHERE lock_key = ?", changes.lastFence(), key));
        }
        writeLeases(statements, key, changes.leases(), messages, now);
        writeQueue(statements, key, changes.queue(), lastPlace == null ? 0 : lastPlace);
        messages.stream()
                .filter(message -> message.handOver() == null)
                .forEach(message -> statements.add(Sql.of(
                        "UPDATE " + tables.waiters() + " SET woken = woken + 1 WHERE lock_key = ? AND channel = ?"
                                + " AND waiter = ?",
                        key,
                        message.channel(),
                        message.waiterNumber())));
        return statements;
    }

    /** The statements that delete leases that have lapsed, which their heartbeats may be extending now. */
    List<Sql> deleteLapsed(KeyState before, KeyState after, long now) {
        return KeyChanges.between(before, after).leases().deleted().stream()
                .filter(lease -> !lease.isLive(now))
                .map(lease -> Sql.of(
                        "DELETE FROM " + tables.leases() + " WHERE lock_id = ? AND expires_at = ?",
                        lease.lockId(),
                        lease.expiresAt()))
                .toList();
    }

    private void writeLeases(
            List<Sql> statements, byte[] key, KeyChanges.Rows<StoredLease> leases, List<WakeUp> messages, long now) {
        leases.deleted().stream()
                .filter(lease -> lease.isLive(now))
                .forEach(lease -> statements.add(
                        Sql.of("DELETE FROM " + tables.leases() + " WHERE lock_id = ?", lease.lockId())));
        leases.updated()
                .forEach(lease -> statements.add(Sql.of(
                        "UPDATE " + tables.leases() + " SET fence = ?, acquired_at = ?, expires_at = ?, channel = NULL"
                                + " WHERE lock_id = ?",
                        lease.fence().value(),
                        lease.acquiredAt(),
                        lease.expiresAt(),
                        lease.lockId())));
        leases.inserted().forEach(lease -> {
            WakeUp message = messages.stream()
                    .filter(each ->
                            each.handOver() != null && each.handOver().fence().equals(lease.fence()))
                    .findFirst()
                    .orElse(null);
            statements.add(Sql.of(
                    "INSERT INTO " + tables.leases() + " (" + LEASE + ", channel, waiter) VALUES " + Sql.rows(1, 9),
                    key,
                    lease.lockId(),
                    lease.mode().name(),
                    lease.owner(),
                    lease.fence().value(),
                    lease.acquiredAt(),
                    lease.expiresAt(),
                    message == null ? null : message.channel(),
                    message == null ? 0L : (Long) message.waiterNumber()));
        });
    }

    private void writeQueue(List<Sql> statements, byte[] key, KeyChanges.Rows<QueueEntry> queue, long lastPlace) {
        if (!queue.deleted().isEmpty()) {
            List<String> ids = queue.deleted().stream().map(QueueEntry::lockId).toList();
            statements.add(
                    new Sql("DELETE FROM " + tables.waiters() + " WHERE lock_id IN (" + Sql.marks(ids) + ")", ids));
        }
        queue.updated()
                .forEach(entry -> statements.add(Sql.of(
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
        long place = lastPlace;
        for (QueueEntry entry : queue.inserted()) {
            statements.add(Sql.of(
                    "INSERT INTO " + tables.waiters() + " (" + WAITER + ", woken) VALUES " + Sql.rows(1, 12),
                    key,
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
