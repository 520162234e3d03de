package io.syncguard.verification.stress;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The leases, queue entries and fence counters in a Redis, from the commands of its scripts. A transaction is a script,
 * or one operation of several in a script.
 *
 * <p>What has lapsed is deleted before the next transaction of its key: Redis may expire it at any time, and no script
 * may rely on it.
 */
final class RedisRows {

    private static final int TOLERANCE = 1000;

    private static final Set<String> READS = Set.of(
            "EXISTS",
            "GET",
            "HGET",
            "HMGET",
            "KEYS",
            "PTTL",
            "PUBLISH",
            "ZCOUNT",
            "ZRANGE",
            "ZRANGEBYSCORE",
            "ZREVRANGE",
            "ZSCORE");

    /** The families with rows of their own. The queue has the entries of the waiting ones again. */
    private static final Map<String, Character> TABLES =
            Map.of("lock", 'L', "readers", 'L', "waiting_writers", 'E', "waiting_readers", 'E', "fence", 'C');

    private static final Set<String> SHARED = Set.of("readers", "waiting_readers");

    /** A queue entry: arrival, mode, lock id, number of the waiter, channel. */
    private static final Pattern ENTRY = Pattern.compile("(\\d+):[A-Z]+:([^:]+):.*");

    /** A key of the server that has rows: its family and its name. */
    private record Key(String family, String name) {
        char table() {
            return TABLES.get(family);
        }
    }

    private final String prefix;

    /** The writes of the operation so far. */
    private final List<List<String>> writes = new ArrayList<>();

    /** The rows of each name, by their identities. */
    private final Map<String, Map<String, RowChange>> rows = new HashMap<>();

    private final Map<String, List<RowChange>> changes = new TreeMap<>();
    private long transaction;
    private long now;

    RedisRows(String prefix) {
        this.prefix = prefix;
    }

    /** The next command of a script. */
    void run(long micros, List<String> command) {
        switch (command.get(0)) {
            case "TIME" -> now = Math.max(now, micros / 1000);
            case "HSET" -> readStart(command);
            case "DEL", "SET", "ZADD", "ZREM" -> writes.add(command);
            case "ZREMRANGEBYSCORE" -> {
                readLapsed(command);
                writes.add(command);
            }
            case "PEXPIREAT" -> {}
            default -> {
                if (!READS.contains(command.get(0))) {
                    throw new IllegalStateException("A command that is not known here: " + command);
                }
                if (beginsOperation(command)) {
                    end();
                }
            }
        }
    }

    /** The script's clock may be a millisecond ahead of the time at which it read the clock. */
    private void readStart(List<String> command) {
        int at = Math.max(command.indexOf("acquired_at_ms"), command.indexOf("arrived_at_ms"));
        if (at > 0) {
            now = Math.max(now, number(command.get(at + 1)));
        }
    }

    private void readLapsed(List<String> command) {
        boolean isLease = keys(command).allMatch(key -> key.table() == 'L');
        now = Math.max(now, number(command.get(3)) + (isLease ? TOLERANCE : 0));
    }

    /** The first look of an acquire, and the look for a lease by its lock id. */
    private static boolean beginsOperation(List<String> command) {
        return command.get(0).equals("EXISTS") && command.size() == 5
                || command.get(0).equals("HMGET")
                        && command.subList(2, command.size()).equals(List.of("name", "mode", "acquired_at_ms"));
    }

    /** The script, or one of its operations, is over. */
    void end() {
        Set<String> names = new LinkedHashSet<>();
        writes.forEach(write -> keys(write).forEach(key -> names.add(key.name)));
        for (String name : names) {
            Map<String, RowChange> before = rows.getOrDefault(name, Map.of());
            Map<String, RowChange> live = new LinkedHashMap<>(before);
            live.values().removeIf(this::isLapsed);
            log(before, live);

            Map<String, RowChange> after = new LinkedHashMap<>(live);
            writes.forEach(
                    write -> keys(write).filter(key -> key.name.equals(name)).forEach(key -> write(write, key, after)));
            log(live, after);
            rows.put(name, after);
        }
        writes.clear();
    }

    private Stream<Key> keys(List<String> command) {
        return command.subList(1, command.get(0).equals("DEL") ? command.size() : 2).stream()
                .filter(key -> key.startsWith(prefix))
                .map(key -> key.substring(prefix.length()).split(":", 2))
                .filter(parts -> TABLES.containsKey(parts[0]))
                .map(parts -> new Key(parts[0], parts[1]));
    }

    private boolean isLapsed(RowChange row) {
        return switch (row.table()) {
            case 'L' -> row.expiresAt() + TOLERANCE <= now;
            case 'E' -> row.expiresAt() <= now;
            default -> false;
        };
    }

    private void write(List<String> command, Key key, Map<String, RowChange> rows) {
        switch (command.get(0)) {
            case "SET" -> put(row(key, "", 0, 0, number(command.get(2))), rows);
            case "ZADD" -> put(member(key, command.get(3), number(command.get(2))), rows);
            case "ZREM" ->
                command.subList(2, command.size()).forEach(member -> rows.remove(identity(member(key, member, 0))));
            case "DEL" -> rows.values().removeIf(row -> isIn(key, row));
            default -> rows.values().removeIf(row -> isIn(key, row) && row.expiresAt() <= number(command.get(3)));
        }
    }

    private RowChange member(Key key, String member, long expiresAt) {
        if (key.table() == 'L') {
            return row(key, member, 0, expiresAt, 0);
        }
        Matcher entry = ENTRY.matcher(member);
        if (!entry.matches()) {
            throw new IllegalStateException("Not a queue entry: " + member);
        }
        return row(key, entry.group(2), number(entry.group(1)), expiresAt, 0);
    }

    private static RowChange row(Key key, String lockId, long arrival, long expiresAt, long fence) {
        return new RowChange(
                0, 0, key.table(), "", key.name, lockId, SHARED.contains(key.family), arrival, expiresAt, fence);
    }

    private static boolean isIn(Key key, RowChange row) {
        return row.table() == key.table() && row.shared() == SHARED.contains(key.family);
    }

    private static void put(RowChange row, Map<String, RowChange> rows) {
        rows.put(identity(row), row);
    }

    /** A lock id that queues again, behind all others, has another entry. */
    private static String identity(RowChange row) {
        return row.table() + row.lockId() + row.arrival();
    }

    /** The differences as the changes of one transaction. */
    private void log(Map<String, RowChange> before, Map<String, RowChange> after) {
        transaction++;
        before.forEach((identity, row) -> {
            if (!after.containsKey(identity)) {
                log("DELETE", row);
            }
        });
        after.forEach((identity, row) -> {
            if (!row.equals(before.get(identity))) {
                log(before.containsKey(identity) ? "UPDATE" : "INSERT", row);
            }
        });
    }

    private void log(String operation, RowChange row) {
        changes.computeIfAbsent(row.key(), key -> new ArrayList<>())
                .add(new RowChange(
                        transaction,
                        now,
                        row.table(),
                        operation,
                        row.key(),
                        row.lockId(),
                        row.shared(),
                        row.arrival(),
                        row.expiresAt(),
                        row.fence()));
    }

    private static long number(String text) {
        return (long) Double.parseDouble(text);
    }

    /** The changes of each of these keys, in their order. */
    List<List<RowChange>> ofBusiestKeys(int limit) {
        return changes.values().stream()
                .sorted(Comparator.comparingInt(List<RowChange>::size).reversed())
                .limit(limit)
                .toList();
    }
}
