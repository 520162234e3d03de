package io.syncguard.leader;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockInfo;
import io.syncguard.LockLimits;
import io.syncguard.LockManager;
import io.syncguard.LockSetupException;
import io.syncguard.MessageText;
import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The elections in which this process takes part, by name. In each election one member leads: the holder of the lock
 * {@code leader:<name>}. Thread-safe.
 *
 * <pre>{@code
 * if (election.isLeader("scheduler")) {
 *     ...
 * }
 * }</pre>
 *
 * <p>Each member has a daemon thread {@code syncguard-leader-<name>} while it takes part, and from the first join on
 * another one for its listeners. Two names that are the same in Unicode normal form C are one.
 */
public final class LeaderElection implements AutoCloseable {

    private static final Log log = LogFactory.getLog(LeaderElection.class);

    private final LockManager locks;
    private final String owner;
    private final Duration shutdownTimeout;
    private final Time time;
    private final ThreadFactory threads;
    private final List<LeaderListener> listeners = new CopyOnWriteArrayList<>();
    private final ConcurrentMap<String, LeaderMember> members = new ConcurrentHashMap<>();

    /** Written by the thread that starts or stops the application, read by all. */
    private volatile boolean running;

    /** The current manager of the thread that starts the application, which belongs to no tenant. Written by that. */
    private volatile @Nullable LockManager startLocks;

    /**
     * Members campaign from {@link #start} on.
     *
     * @param locks for elections that are defined without a manager. A {@link LockManager#routing routing} one is asked
     *     by {@link #start}, for all of them, and before that by each call that defines one
     * @param owner the label of this process, as lookups show it: at most {@value LockLimits#MAX_KEY_BYTES} UTF-8
     *     bytes
     * @param shutdownTimeout how long a leader that steps down waits for running bodies and listeners before it
     *     releases the lock; zero does not wait
     */
    public LeaderElection(LockManager locks, String owner, Duration shutdownTimeout) {
        this(locks, owner, shutdownTimeout, Time.SYSTEM, DaemonThreadFactory.named("syncguard-leader"));
    }

    LeaderElection(LockManager locks, String owner, Duration shutdownTimeout, Time time, ThreadFactory threads) {
        this.locks = locks;
        this.owner = owner;
        this.shutdownTimeout = shutdownTimeout;
        this.time = time;
        this.threads = threads;
    }

    /**
     * Informs the listener of the events of all elections.
     *
     * @return ends the registration
     */
    public LeaderRegistration addListener(LeaderListener listener) {
        listeners.add(listener);
        return () -> listeners.remove(listener);
    }

    /**
     * Defines an election, to be joined later.
     *
     * @param name with {@value LockLimits#ELECTION_PREFIX} in front at most {@value LockLimits#MAX_KEY_BYTES} UTF-8
     *     bytes
     * @param locks the manager of the lock of the leader; all members need the same store. A {@link LockManager#routing
     *     routing} one is asked now, and not again
     * @throws LockException with {@link LockErrorCode#INVALID_ARGUMENT} when it is defined with other settings or
     *     another manager, or the name is outside its limits
     */
    public LeaderMember define(String name, LeaderSettings settings, LockManager locks) {
        LockManager current = locks.current();
        LeaderMember member = members.computeIfAbsent(
                LeaderMember.normalized(name),
                unknown ->
                        new LeaderMember(unknown, settings, owner, current, listeners, shutdownTimeout, time, threads));
        if (!member.isLike(settings, current)) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "The election '" + name + "' is defined with other settings or another lock manager: "
                            + member.settings() + ". Join it without any, or use another name");
        }
        if (running) {
            member.membership().open();
            if (!running) {
                // stop() has run meanwhile, and may not have seen this member.
                member.membership().close();
            }
        }
        return member;
    }

    /**
     * Takes part in an election, with its defined settings, or with the defaults if it is not defined yet. Does not
     * wait to be elected.
     *
     * @throws Error when a thread cannot be made; the member has not joined then, and may join again
     */
    public LeaderMember join(String name) {
        LeaderMember known = members.get(LeaderMember.normalized(name));
        return join(known == null ? define(name, LeaderSettings.defaults(), defaultLocks()) : known);
    }

    /**
     * Takes part in an election.
     *
     * @throws LockException with {@link LockErrorCode#INVALID_ARGUMENT} when it is defined with other settings
     */
    public LeaderMember join(String name, LeaderSettings settings) {
        return join(define(name, settings, defaultLocks()));
    }

    /**
     * This process in an election that is configured, or that it has joined.
     *
     * @throws LockException with {@link LockErrorCode#INVALID_ARGUMENT} when no election has this name
     */
    public LeaderMember member(String name) {
        LeaderMember member = members.get(LeaderMember.normalized(name));
        if (member == null) {
            throw LockSetupException.invalid(
                    "There is no election '" + MessageText.shortened(name) + "'"
                            + (members.isEmpty() ? "" : ", only " + MessageText.listed(members.keySet())),
                    MessageText.nextSteps(
                            name,
                            members.keySet(),
                            "Correct the name",
                            "Define it: syncguard.leader.elections" + keyOf(MessageText.shortened(name))
                                    + ".auto-startup=true, or =false and join it in code",
                            "Define it in code: LeaderElection.define, LeaderElection.join"));
        }
        return member;
    }

    /** This process in all elections that are defined here. */
    public Collection<LeaderMember> members() {
        return List.copyOf(members.values());
    }

    /**
     * Whether this process leads the election: see {@link LeaderMember#isLeader()}.
     *
     * @throws LockException with {@link LockErrorCode#INVALID_ARGUMENT} when no election has this name
     */
    public boolean isLeader(String name) {
        return member(name).isLeader();
    }

    /**
     * Asks the server which process leads, and under which fence: for diagnostics. The answer may be outdated when it
     * arrives. An election that is not defined here is looked up with the default manager.
     *
     * @return empty when no process leads
     * @throws LockBackendException when the server cannot be asked
     */
    public Optional<LockInfo> leader(String name) {
        LeaderMember member = members.get(LeaderMember.normalized(name));
        return (member == null ? defaultLocks() : member.locks()).admin().lookup(LeaderMember.key(name));
    }

    /**
     * Starts the campaigns of all members that have joined.
     *
     * @throws Error when a thread cannot be made; no member campaigns then, and the elections may be started again
     */
    public void start() {
        startLocks = currentLocks();
        running = true;
        try {
            members.values().forEach(member -> member.membership().open());
        } catch (Throwable ex) {
            stop();
            throw ex;
        }
    }

    /**
     * Steps down everywhere, and waits for running bodies, at most for the shutdown timeout. Members stay joined until
     * {@link #start}.
     */
    public void stop() {
        running = false;
        members.values().forEach(member -> member.membership().close());
        members.values().forEach(member -> member.campaign().awaitEnd(shutdownTimeout));
    }

    /** {@link #stop Stops} for good. */
    @Override
    public void close() {
        Shielded.closeAll(this::stop);
        members.values().forEach(member -> Shielded.closeAll(member::close));
    }

    private LockManager defaultLocks() {
        LockManager known = startLocks;
        return known == null ? locks : known;
    }

    /** {@code null} if there is none for a thread without a tenant: then elections have managers of their own. */
    private @Nullable LockManager currentLocks() {
        try {
            return locks.current();
        } catch (RuntimeException ex) {
            log.debug("No lock manager is current at the start, so elections need managers of their own", ex);
            return null;
        }
    }

    private static LeaderMember join(LeaderMember member) {
        member.join();
        return member;
    }

    /** In the notation of Spring Boot for keys of maps. */
    private static String keyOf(String name) {
        return name.matches("[a-z0-9-]+") ? "." + name : "[" + name + "]";
    }
}
