package io.syncguard.leader;

import io.syncguard.Fence;
import io.syncguard.LockLimits;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/**
 * This process in one election. Thread-safe.
 *
 * <pre>{@code
 * LeaderMember scheduler = election.member("scheduler");
 * scheduler.runWhileLeader(term -> {
 *     while (term.isLeader()) {
 *         dispatch(queue.take(), term.fence());
 *     }
 * });
 * }</pre>
 *
 * <p>No method waits for the server or for running bodies, except for {@link #awaitDecision}.
 */
public final class LeaderMember {

    private final String name;
    private final LeaderSettings settings;
    private final LockManager locks;
    private final ThreadFactory threads;
    private final LeaderEventDispatcher dispatcher;
    private final Campaign campaign;
    private final Membership membership;
    private final List<RepeatedTask> tasks = new CopyOnWriteArrayList<>();

    LeaderMember(
            String name,
            LeaderSettings settings,
            String defaultOwner,
            LockManager locks,
            List<LeaderListener> listeners,
            Duration shutdownTimeout,
            Time time,
            ThreadFactory threads) {
        this.name = name;
        this.settings = settings;
        this.locks = locks;
        this.threads = threads;
        String owner = settings.owner() == null ? defaultOwner : settings.owner();
        this.dispatcher = new LeaderEventDispatcher(name, owner, listeners, threads("-events"));
        LockRequest request = LockRequest.of(key(name))
                .meterName(key(name))
                .ttl(settings.ttl())
                .heartbeat(settings.heartbeat())
                .owner(owner);
        TermRunner terms = new TermRunner(name, settings.fenceRotation(), shutdownTimeout, dispatcher, time);
        this.campaign = new Campaign(name, locks, request, terms, this::startTasks, time, threads(""));
        this.membership = campaign.membership();
    }

    /** The Unicode normal form of a name, which is that of its key: two spellings are one election. */
    static String normalized(String name) {
        return key(name).substring(LockLimits.ELECTION_PREFIX.length());
    }

    /** The key whose holder leads this election. */
    static String key(String name) {
        return LockLimits.key(LockLimits.ELECTION_PREFIX + LockLimits.requireNonNull("name of an election", name));
    }

    /** The key of the lock that the leader holds. */
    public String key() {
        return key(name);
    }

    /** The name of the election, in Unicode normal form C. */
    public String name() {
        return name;
    }

    /** The settings of this member, which do not change. */
    public LeaderSettings settings() {
        return settings;
    }

    /**
     * Whether this process leads, by the local deadline of the lease and without I/O. It turns false before another
     * process can lead, and is false until the first decision after the join, which takes one request to the server.
     */
    public boolean isLeader() {
        LeaderTerm term = membership.term();
        return term != null && term.isLeader();
    }

    /**
     * Waits until it is decided, for the first time since this process takes part, whether it leads. Returns at once
     * after that, and while it takes no part: before the start, after {@link #leave} and after {@link #pause}. These
     * end a wait, and so does an interrupt, which stays set.
     *
     * @param timeout counts from the moment in which this process began to take part
     * @return false if it is not decided: the server does not answer, or the thread was interrupted
     */
    public boolean awaitDecision(Duration timeout) {
        return campaign.decision().await(timeout);
    }

    /**
     * The number to send with each write of the leader: a resource that has seen a larger one can refuse the write.
     * Empty when this process does not lead.
     */
    public Optional<Fence> fence() {
        LeaderTerm term = membership.term();
        return term != null && term.isLeader() ? Optional.of(term.fence()) : Optional.empty();
    }

    /** Whether this process takes part in the election: it has joined and not left. */
    public boolean isJoined() {
        return membership.isJoined();
    }

    /**
     * Hands the leadership over to the next member, and campaigns again behind all who wait. {@link #isLeader} is false
     * from here on, and running bodies are interrupted. The next member is elected when they and the listeners have
     * ended, or the shutdown timeout is over. Nothing happens when this process does not lead.
     */
    public void resign() {
        membership.resign();
    }

    /** {@link #resign Resigns}, and does not campaign until {@link #resume}: to inspect a process, for instance. */
    public void pause() {
        membership.pause();
    }

    /** Campaigns again after {@link #pause}. */
    public void resume() {
        membership.resume();
    }

    /**
     * {@link #resign Resigns}, and takes no part in the election any more until it {@link LeaderElection#join joins}
     * again.
     */
    public void leave() {
        membership.leave();
    }

    /**
     * Runs the task in each term of this process, from its beginning on, or from now on if it leads. The end of the
     * term interrupts the task.
     *
     * @return ends the registration, and interrupts the task if it runs
     */
    public LeaderRegistration runWhileLeader(LeaderTask task) {
        RepeatedTask repeated = new RepeatedTask(name, task, threads("-task"));
        tasks.add(repeated);
        // Read after the task was added: a term that begins after this line finds the task.
        LeaderTerm term = membership.term();
        if (term != null) {
            repeated.start(term);
        }
        return () -> {
            tasks.remove(repeated);
            repeated.close();
        };
    }

    /** Informs the listener of the events of this member. */
    public LeaderRegistration addListener(LeaderListener listener) {
        return dispatcher.add(listener);
    }

    /** Begins a body on the running thread. The caller has to end it. {@code null} when this process does not lead. */
    public @Nullable TermBody beginBody() {
        LeaderTerm term = membership.term();
        return term == null ? null : term.beginBody();
    }

    /**
     * Takes part in the election.
     *
     * @throws Error when a thread cannot be made; the member has not joined then
     */
    void join() {
        membership.join(dispatcher::makeReady, () -> {
            var unused = dispatcher.dispatch(listener -> listener.joined(this));
        });
    }

    Membership membership() {
        return membership;
    }

    Campaign campaign() {
        return campaign;
    }

    LockManager locks() {
        return locks;
    }

    /** Called after the end of the campaign. */
    void close() {
        tasks.forEach(RepeatedTask::close);
        dispatcher.close();
    }

    boolean isLike(LeaderSettings other, LockManager otherLocks) {
        return settings.equals(other) && Objects.equals(locks, otherLocks);
    }

    private void startTasks(LeaderTerm term) {
        tasks.forEach(task -> task.start(term));
    }

    private ThreadFactory threads(String suffix) {
        return DaemonThreadFactory.named("syncguard-leader-" + name + suffix, threads);
    }
}
