package io.syncguard.leader;

import io.syncguard.Fence;
import io.syncguard.LockLimits;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * This process in one election. Threads may share it.
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
 * <p>No method waits for the server or for running bodies.
 */
public final class LeaderMember {

    private static final Log log = LogFactory.getLog(LeaderElection.class);

    private static final String KEY_PREFIX = "leader:";

    private final String name;
    private final LeaderSettings settings;
    private final String owner;
    private final LockManager locks;
    private final ThreadFactory threads;
    private final LeaderNews news;
    private final Campaign campaign;
    private final List<RepeatedTask> tasks = new CopyOnWriteArrayList<>();

    LeaderMember(
            String name,
            LeaderSettings settings,
            String defaultOwner,
            LockManager locks,
            List<LeaderListener> listeners,
            Duration patience,
            Time time,
            ThreadFactory threads) {
        this.name = name;
        this.settings = settings;
        this.owner = settings.owner() == null ? defaultOwner : settings.owner();
        this.locks = locks;
        this.threads = threads;
        this.news = new LeaderNews(threadName("-events"), listeners, threads);
        LockRequest request = LockRequest.of(key(name))
                .named(key(name))
                .ttl(settings.ttl())
                .heartbeat(settings.heartbeat())
                .owner(owner);
        this.campaign = new Campaign(this, locks, request, patience, time, threads);
    }

    /** The name by which an election is known: that of its key, which is the same however the name is spelled. */
    static String normalized(String name) {
        return key(name).substring(KEY_PREFIX.length());
    }

    /** The key whose holder leads this election. */
    static String key(String name) {
        return LockLimits.key(KEY_PREFIX + name);
    }

    /** The name of the election. */
    public String name() {
        return name;
    }

    public LeaderSettings settings() {
        return settings;
    }

    /**
     * Whether this process leads. Judged by a local clock that was started before the last confirmed extension was sent, without
     * I/O: false from the moment on in which leadership can no longer be proven, which is before anybody else can lead.
     */
    public boolean isLeader() {
        LeaderTerm term = campaign.term();
        return term != null && term.isLeader();
    }

    /**
     * The number to send along with what the leader writes, so that who has seen a larger one can refuse it; empty when this
     * process does not lead.
     */
    public Optional<Fence> fence() {
        LeaderTerm term = campaign.term();
        return term != null && term.isLeader() ? Optional.of(term.fence()) : Optional.empty();
    }

    /** Whether this process takes part in the election: it has joined and not left. */
    public boolean isJoined() {
        return campaign.isJoined();
    }

    /**
     * Gives the leadership to the next one, and campaigns again behind all who wait. {@link #isLeader} is false from here on, and
     * running bodies are interrupted. The next one is elected when they have ended and the listeners have been told, or the
     * shutdown timeout is over. Nothing happens when this process does not lead.
     */
    public void resign() {
        campaign.resign();
    }

    /** {@link #resign Resigns}, and does not campaign until {@link #resume}: to keep a process from leading that is looked into. */
    public void pause() {
        campaign.pause();
    }

    /** Campaigns again after {@link #pause}. */
    public void resume() {
        campaign.resume();
    }

    /** {@link #resign Resigns}, and takes no part in the election any more until it {@link LeaderElection#join joins} again. */
    public void leave() {
        campaign.leave();
    }

    /**
     * Runs the task in each term of this process, from its beginning on, or from now on if it leads. An interrupt tells the task
     * of the end of the term.
     *
     * @return ends that, and interrupts the task if it runs
     */
    public LeaderRegistration runWhileLeader(LeaderTask task) {
        RepeatedTask repeated = new RepeatedTask(name, threadName("-task"), task, threads);
        campaign.withTerm(term -> {
            tasks.add(repeated);
            if (term != null) {
                repeated.start(term);
            }
        });
        return () -> {
            tasks.remove(repeated);
            repeated.close();
        };
    }

    /** Has the listener be told of this member. */
    public LeaderRegistration addListener(LeaderListener listener) {
        return news.add(listener);
    }

    /** Begins code on the running thread that only the leader runs; {@code null} when this process does not lead. */
    @Nullable
    TermBody begin() {
        LeaderTerm term = campaign.term();
        return term == null ? null : term.begin();
    }

    Campaign campaign() {
        return campaign;
    }

    LockManager locks() {
        return locks;
    }

    String threadName(String suffix) {
        return "syncguard-leader-" + name + suffix;
    }

    /** @throws Error when the thread cannot be made that tells listeners */
    void makeReady() {
        news.makeReady();
    }

    void joined() {
        var unused = news.tell(listener -> listener.joined(this));
    }

    /** Called once at the beginning of a term. */
    void elected(LeaderTerm term) {
        LeaderElectedEvent event = new LeaderElectedEvent(name, owner, term.fence());
        Shielded.log(() -> log.info("This process leads '" + name + "', under fence " + event.fence()));
        var unused = news.tell(listener -> listener.elected(event));
    }

    /** Called once after that. */
    void startTasks(LeaderTerm term) {
        tasks.forEach(task -> task.start(term));
    }

    void fenceRotated(LeaderTerm term) {
        LeaderFenceRotatedEvent event = new LeaderFenceRotatedEvent(name, owner, term.fence());
        news.tellIfPossible(listener -> listener.fenceRotated(event));
    }

    /** Called once at the end of a term; done when all listeners have been told. */
    CompletableFuture<Void> revoked(LeaderTerm term, LeaderRevocation reason) {
        LeaderRevokedEvent event = new LeaderRevokedEvent(name, owner, term.fence(), reason);
        Shielded.log(() -> log.info("This process leads '" + name + "' no longer: " + reason));
        return news.tell(listener -> listener.revoked(event));
    }

    /** After the end of its campaign. */
    void close() {
        tasks.forEach(RepeatedTask::close);
        news.close();
    }

    boolean isLike(LeaderSettings other, LockManager otherLocks) {
        return settings.equals(other) && Objects.equals(locks, otherLocks);
    }
}
