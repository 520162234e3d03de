package io.syncguard.portable;

import io.syncguard.LockBackendException;
import io.syncguard.jdbc.JdbcConnections;
import io.syncguard.portable.KeyRows.States;
import io.syncguard.portable.Session.Answer;
import io.syncguard.rules.Decision;
import io.syncguard.rules.KeyState;
import io.syncguard.rules.StoredLease;
import io.syncguard.rules.WakeUp;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Runs rules in one transaction: locks the rows of their keys in one order, reads the clock and the states, decides,
 * writes what has changed, and commits. Two round trips, where the driver sends statements together. Thread-safe.
 */
final class KeySteps {

    private static final Log log = LogFactory.getLog(KeySteps.class);

    private final PortableSessions sessions;
    private final KeyRows rows;
    private final Dialect dialect;
    private final PortableTables tables;
    private final String channel;
    private final Consumer<WakeUp> ownMessages;

    /**
     * @param channel of this process
     * @param ownMessages gets the messages to waiters of this process, after the commit
     */
    KeySteps(
            PortableSessions sessions,
            Dialect dialect,
            PortableTables tables,
            String channel,
            Consumer<WakeUp> ownMessages) {
        this.sessions = sessions;
        this.rows = new KeyRows(tables, dialect);
        this.dialect = dialect;
        this.tables = tables;
        this.channel = channel;
        this.ownMessages = ownMessages;
    }

    /** How a step locks the rows of its keys. */
    enum Locking {

        /** Waits for rows that others have locked, and makes those that are missing. */
        CREATING,

        /** Waits for rows that others have locked. A missing row is that of a key that was never granted. */
        WAITING,

        /** Waits for rows of keys. It ends no lease that others have locked: {@link Keys#keeps}. */
        FORCING,

        /** Does without the rows that others have locked, and without those that are missing. */
        SKIPPING
    }

    /** The keys of a transaction, as the decisions so far have made them. */
    static final class Keys {

        private final States read;
        private final Map<String, KeyState> now = new LinkedHashMap<>();
        private final Map<String, List<WakeUp>> messages = new LinkedHashMap<>();

        private final boolean hasAll;
        private final Set<String> kept;

        private Keys(States read, boolean hasAll, Set<String> kept) {
            this.read = read;
            this.hasAll = hasAll;
            this.kept = kept;
        }

        /** The server's clock, read after the rows were locked. */
        long now() {
            return read.now();
        }

        /** Whether the step may decide about the key. */
        boolean has(String key) {
            return hasAll || read.states().containsKey(key);
        }

        /** Whether somebody has locked the lease, so that this step cannot end it. */
        boolean keeps(StoredLease lease) {
            return kept.contains(lease.lockId());
        }

        KeyState of(String key) {
            return now.getOrDefault(key, read.of(key));
        }

        <T> T done(Decision<T> decision) {
            String key = decision.after().key();
            now.put(key, decision.after());
            messages.computeIfAbsent(key, unused -> new ArrayList<>()).addAll(decision.wakeUps());
            return decision.answer();
        }
    }

    /**
     * Reads keys without a lock. Each table shows one time after the call began, which need not be that of the others.
     */
    States look(String doing, JdbcConnections connections, Duration limit, Collection<String> keys) {
        return connections.call(
                doing, limit, connection -> rows.states(sessions.on(connection).send(rows.read(keys, "")), Set.of()));
    }

    /** Runs a step on locked keys. */
    <T> T run(
            String doing,
            JdbcConnections connections,
            Duration limit,
            Collection<String> keys,
            Locking locking,
            Function<Keys, T> step) {
        if (keys.isEmpty()) {
            return step.apply(new Keys(new States(0, Map.of(), Map.of()), true, Set.of()));
        }
        Collection<String> ordered = new TreeSet<>(keys);
        List<WakeUp> sent = new ArrayList<>();
        try {
            T answer = connections.call(doing, limit, connection -> {
                Session session = sessions.on(connection);
                try {
                    return commit(session, ordered, locking, step, sent);
                } catch (Throwable ex) {
                    session.endAfter(ex);
                    throw ex;
                }
            });
            own(sent).forEach(ownMessages);
            return answer;
        } catch (LockBackendException ex) {
            // The commit may have succeeded, and no row has these messages: the waiters look.
            own(sent)
                    .map(message -> new WakeUp(channel, message.waiterNumber(), null))
                    .forEach(ownMessages);
            throw ex;
        }
    }

    /** @param sent gets the messages, before the commit */
    private <T> T commit(
            Session session, Collection<String> keys, Locking locking, Function<Keys, T> step, List<WakeUp> sent)
            throws SQLException {
        Set<String> kept = new HashSet<>();
        while (true) {
            sent.clear();
            Keys locked = new Keys(lock(session, keys, locking, kept), locking != Locking.SKIPPING, kept);
            T result = step.apply(locked);
            locked.messages.values().forEach(sent::addAll);
            if (write(session, locked, locking, kept)) {
                return result;
            }
        }
    }

    private Stream<WakeUp> own(List<WakeUp> sent) {
        return sent.stream().filter(message -> message.channel().equals(channel));
    }

    private States lock(Session session, Collection<String> keys, Locking locking, Set<String> kept)
            throws SQLException {
        List<Sql> reading = rows.read(keys, locking == Locking.SKIPPING ? "FOR UPDATE SKIP LOCKED" : "FOR UPDATE");
        while (true) {
            States states = rows.states(session.begin(reading), kept);
            List<String> missing = keys.stream()
                    .filter(key -> !states.states().containsKey(key))
                    .toList();
            if (locking != Locking.CREATING || missing.isEmpty()) {
                return states;
            }
            // A transaction of its own: with locks on other keys, it could wait in a circle.
            session.rollBack();
            create(session, missing);
        }
    }

    private void create(Session session, List<String> keys) throws SQLException {
        try {
            session.send(List.of(new Sql(dialect.insertKeys(tables.keys(), keys.size()), KeyRows.bytes(keys))));
        } catch (SQLIntegrityConstraintViolationException ex) {
            log.debug("Another process made the row of a key at the same time", ex);
        }
    }

    /**
     * Returns false, and changes nothing, if a lease cannot be taken from its holder: it is pinned, or its heartbeat
     * was faster.
     *
     * @param kept gets the lock ids of those that somebody has locked
     */
    private boolean write(Session session, Keys keys, Locking locking, Set<String> kept) throws SQLException {
        List<KeyRows.Change> changed = new ArrayList<>();
        keys.now.forEach((key, after) -> changed.add(new KeyRows.Change(
                keys.read.of(key),
                after,
                keys.messages.getOrDefault(key, List.of()).stream()
                        .filter(message -> !message.channel().equals(channel))
                        .toList(),
                keys.read.lastPlaces().getOrDefault(key, 0L))));
        List<Sql> changes = rows.write(changed);
        if (changes.isEmpty() || !lockTaken(session, taken(changed, locking, keys.now()), kept)) {
            session.rollBack();
            return changes.isEmpty();
        }
        session.commit(changes);
        return true;
    }

    /** The leases that end without their holder. */
    private static List<StoredLease> taken(List<KeyRows.Change> changed, Locking locking, long now) {
        return changed.stream()
                .flatMap(change -> change.rows().leases().deleted().stream())
                .filter(lease -> locking == Locking.FORCING || !lease.isLive(now))
                .toList();
    }

    private boolean lockTaken(Session session, List<StoredLease> taken, Set<String> kept) throws SQLException {
        if (taken.isEmpty()) {
            return true;
        }
        Map<String, Long> ends = new HashMap<>();
        session.send(List.of(rows.lockUnlocked(taken)))
                .get(0)
                .rows()
                .forEach(row -> ends.put(row.text(0), row.number(1)));
        taken.stream()
                .map(StoredLease::lockId)
                .filter(id -> !ends.containsKey(id))
                .forEach(kept::add);
        return taken.stream().allMatch(lease -> Objects.equals(ends.get(lease.lockId()), lease.expiresAt()));
    }

    /** Releases a lease in one round trip, if it is live and nobody waits. Returns whether it did. */
    boolean releaseUnawaited(JdbcConnections connections, Duration limit, String key, String lockId) {
        return connections.call("releasing a lock", limit, connection -> {
            Session session = sessions.on(connection);
            try {
                return session.transact(rows.deleteUnawaited(key, lockId))
                                .get(1)
                                .count()
                        == 1;
            } catch (Throwable ex) {
                session.endAfter(ex);
                throw ex;
            }
        });
    }

    /** Finds the keys of leases and queue entries by their lock ids; {@code null} for none. */
    List<@Nullable String> keysOf(JdbcConnections connections, List<String> lockIds) {
        return connections.call("looking for locks", connection -> {
            List<@Nullable String> keys = new ArrayList<>();
            for (Answer answer : sessions.on(connection)
                    .send(lockIds.stream().map(rows::keyOf).toList())) {
                keys.add(KeyRows.keyIn(answer));
            }
            return keys;
        });
    }
}
