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
            "ZREVRANGEBYSCORE",
            "ZSCORE");

    /** The families that rows are made of. The queue has the arrivals of the entries that wait. */
    private static final Map<String, Character> TABLES =
            Map.of("lock", 'L', "readers", 'L', "queue", 'Q', "waiting", 'E', "fence", 'C');

    /** The entries of readers expire this much later in their set. */
    private static final long READERS = 4_000_000_000_000_000L;

    /** The exclusive lease: lock id, end of its tolerance, start. */
    private static final Pattern LEASE = Pattern.compile("[-+](\\S+) (\\d+) (\\d+) .*");

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

    /** The last arrival of each lock id at each name. */
    private final Map<String, Long> arrivals = new HashMap<>();

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
            case "SET" -> {
                readStart(command);
                writes.add(command);
            }
            case "DEL", "ZADD", "ZREM" -> writes.add(command);
            case "PEXPIREAT", "HSET", "HDEL" -> {}
            default -> {
                if (!READS.contains(command.get(0))) {
                    throw new IllegalStateException("A command that is not known here: " + command);
                }
                if (beginsOperation(command)) {
                    end();
                }
                readNow(command);
            }
        }
    }

    /** The script's clock may be a millisecond ahead of the time at which it read the clock. */
    private void readStart(List<String> command) {
        Matcher lease = LEASE.matcher(command.get(2));
        if (lease.matches()) {
            now = Math.max(now, number(lease.group(3)));
        }
    }

    /** Takes the script's clock from a read of lapsed rows, which precedes their deletion. */
    private void readNow(List<String> command) {
        if (!command.get(0).equals("ZRANGEBYSCORE")) {
            return;
        }
        boolean isReaders = keys(command).anyMatch(key -> key.family.equals("readers"));
        if (isReaders && command.get(2).equals("-inf")) {
            now = Math.max(now, number(command.get(3)) + TOLERANCE);
        } else if (!isReaders && command.get(2).equals("0")) {
            now = Math.max(now, number(command.get(3)));
        }
    }

    /** The first look of an acquire, and the look for a lease by its lock id. */
    private boolean beginsOperation(List<String> command) {
        return command.get(0).equals("EXISTS") && command.size() == 4
                || command.get(0).equals("GET") && keys(command).anyMatch(key -> key.family.equals("lock"));
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
            case "SET" -> {
                rows.values().removeIf(row -> isIn(key, row));
                put(set(key, command.get(2)), rows);
            }
            case "ZADD" -> add(key, command.get(3), number(command.get(2)), rows);
            case "ZREM" -> {
                List<String> lockIds = command.subList(2, command.size());
                rows.values().removeIf(row -> isIn(key, row) && lockIds.contains(row.lockId()));
            }
            default -> rows.values().removeIf(row -> isIn(key, row));
        }
    }

    private static RowChange set(Key key, String value) {
        if (key.table() == 'C') {
            return row(key, "", false, 0, 0, number(value));
        }
        Matcher lease = LEASE.matcher(value);
        if (!lease.matches()) {
            throw new IllegalStateException("Not a lease: " + value);
        }
        return row(key, lease.group(1), false, 0, number(lease.group(2)) - TOLERANCE, 0);
    }

    private void add(Key key, String lockId, long score, Map<String, RowChange> rows) {
        switch (key.table()) {
            case 'Q' -> arrivals.put(key.name + " " + lockId, score);
            case 'L' -> put(row(key, lockId, true, 0, score, 0), rows);
            default -> {
                boolean shared = score >= READERS;
                long arrival = arrivals.getOrDefault(key.name + " " + lockId, 0L);
                put(row(key, lockId, shared, arrival, shared ? score - READERS : score, 0), rows);
            }
        }
    }

    private static RowChange row(Key key, String lockId, boolean shared, long arrival, long expiresAt, long fence) {
        return new RowChange(0, 0, key.table(), "", key.name, lockId, shared, arrival, expiresAt, fence);
    }

    private static boolean isIn(Key key, RowChange row) {
        return row.table() == key.table() && (key.table() != 'L' || row.shared() == key.family.equals("readers"));
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
