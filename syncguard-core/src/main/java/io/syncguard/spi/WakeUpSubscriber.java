package io.syncguard.spi;

import io.syncguard.concurrent.Alarm;
import io.syncguard.concurrent.Backoff;
import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Keeps this process subscribed to the channel on which a store wakes its waiters. It belongs to the engine: a store
 * gives it a {@link Subscription}, and an application never uses it. Thread-safe.
 *
 * <p>The thread {@code syncguard-listener} subscribes when somebody waits for the first time, and again after each
 * loss. Each change has every waiter look once, because a wake-up may have been sent while nobody listened.
 *
 * <p>An open connection does not show that wake-ups arrive on it: its server may have left the cluster, its address may
 * lead to another server by now, or somebody between may drop messages. So the process sends a message to itself, as
 * releases send theirs: after each subscription, and every {@value #INTERVAL_SECONDS} s while somebody waits.
 */
public final class WakeUpSubscriber implements AutoCloseable {

    private static final Log log = LogFactory.getLog(WakeUpSubscriber.class);

    private static final Backoff BACKOFF = Backoff.doubling(Duration.ofMillis(100), Duration.ofSeconds(5));

    /** The pauses after a new connection on which no message arrived: most poolers never let one pass. */
    private static final Backoff SILENCE = Backoff.doubling(Duration.ofSeconds(10), Duration.ofMinutes(10));

    private static final int INTERVAL_SECONDS = 10;

    private static final Duration INTERVAL = Duration.ofSeconds(INTERVAL_SECONDS);

    /** How long a message may be under way. */
    private static final Duration TRAVEL = Duration.ofSeconds(2);

    /** How long it tests after a caller has begun to wait, or still waited. */
    private static final long NEEDED_NANOS = Duration.ofMinutes(1).toNanos();

    /** Begins each message of a test, and no other. */
    private static final String TEST = "test ";

    private final String store;
    private final String channel;
    private final Subscription subscription;
    private final WakeUpListener engine;
    private final WakeUpMessages messages;
    private final Time time;
    private final ThreadFactory threads;

    /** Guarded by this object: the listening thread, from the first waiter on. */
    private @Nullable Alarm alarm;

    /** Guarded by this object: whether the log has a warning that no thread could be made. */
    private boolean lacked;

    /** Written by the listening thread, and read by all. */
    private volatile boolean connected;

    /** Written by the listening thread, and read by all. */
    private volatile boolean available = true;

    private volatile boolean started;
    private volatile boolean closed;

    /** When a caller waited last. */
    private volatile long neededAt;

    /** The test whose messages are under way, or the last one. */
    private volatile @Nullable Test test;

    /** The failures since the subscription last worked. The listening thread alone reads and writes it. */
    private int failures;

    /** When it began to listen on its last connection. Used by the same thread. */
    private long listeningSince;

    /** How many tests in succession have failed on new connections. The listening thread alone uses it. */
    private int silences;

    /** Whether the log has a warning of this outage. The listening thread alone uses it. */
    private boolean warned;

    /**
     * A store's way to listen to one channel. It is opened again after it was closed. The listening thread alone
     * calls it, but for {@link #abort}.
     */
    public interface Subscription {

        /**
         * Connects and subscribes.
         *
         * @param receiver takes each message, on any thread
         */
        void open(Consumer<String> receiver) throws Exception;

        /**
         * Sends a message to the channel as releases do, not on the connection that listens; where they come from
         * several servers, from each that can send it.
         *
         * @return how often it was sent, at least once
         */
        int send(String message) throws Exception;

        /**
         * Listens until this completes, or for this time. Throws when the connection is lost.
         *
         * @param until is completed by the receiver, and in any case soon after the call
         */
        void listen(CompletableFuture<?> until, Duration atMost) throws Exception;

        /** Makes sure that the server is still there. Throws when it is not. */
        void ping() throws Exception;

        /** Called before {@link #close} when messages do not arrive: the next connection has to be a new one. */
        void distrust() throws Exception;

        /** Gives back what was opened, if anything was. Throws nothing, and waits for nobody. */
        void close();

        /**
         * Ends the call that is under way, for good. Called in place of {@link #close}, by another thread, more than
         * once.
         */
        void abort();
    }

    /** A message of this process to itself, which may be sent by several servers. */
    private static final class Test {

        /** More than there are servers. */
        private static final int BEING_SENT = 1 << 20;

        private final String message = TEST + UUID.randomUUID();
        private final AtomicInteger missing = new AtomicInteger(BEING_SENT);
        private final CompletableFuture<@Nullable Void> passed = new CompletableFuture<>();

        void sent(int times) {
            add(times - BEING_SENT);
        }

        void arrived() {
            add(-1);
        }

        private void add(int messages) {
            if (missing.addAndGet(messages) <= 0) {
                passed.complete(null);
            }
        }
    }

    /**
     * @param store the name of the store, for messages
     * @param channel on which this process alone listens
     * @param engine receives what the messages report
     */
    public WakeUpSubscriber(String store, String channel, Subscription subscription, WakeUpListener engine, Time time) {
        this(store, channel, subscription, engine, time, DaemonThreadFactory.named("syncguard-listener"));
    }

    WakeUpSubscriber(
            String store,
            String channel,
            Subscription subscription,
            WakeUpListener engine,
            Time time,
            ThreadFactory threads) {
        this.threads = threads;
        this.store = store;
        this.channel = channel;
        this.subscription = subscription;
        this.engine = engine;
        this.messages = new WakeUpMessages(engine, time);
        this.time = time;
    }

    /** The channel on which this process is woken. */
    public String channel() {
        return channel;
    }

    /** Returns the secret that authenticates a hand-over to this waiter. */
    public String secretOf(long waiter) {
        return messages.secretOf(waiter);
    }

    /**
     * Called when a caller begins to wait, and while it waits. Subscribes, unless that was done before. If no thread
     * can be made, the next call tries again.
     */
    public void start() {
        neededAt = time.nanoTime();
        if (!started) {
            startListening();
        }
    }

    private synchronized void startListening() {
        if (started || closed) {
            return;
        }
        try {
            Alarm made = new Alarm(threads, time, this::run);
            alarm = made;
            started = true;
            made.ringAt(time.nanoTime());
        } catch (Error ex) {
            // Not counted as a failure of the connection: such a failure has a warning of its own, and the shortest
            // pause.
            if (!lacked) {
                lacked = true;
                Shielded.log(() -> warn(ex));
            }
        }
    }

    /** Whether messages arrive now. */
    public boolean isConnected() {
        return connected;
    }

    /** Whether messages may arrive: false after a test has shown that they do not. */
    public boolean isAvailable() {
        return available;
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            if (alarm != null) {
                alarm.close();
            }
        }
        subscription.abort();
    }

    /** Listens until the connection is lost; answers when to try again. */
    private long run() {
        if (closed) {
            return Time.NEVER;
        }
        try {
            subscription.open(this::receive);
            if (testPasses()) {
                listen();
            } else {
                testLater();
            }
        } catch (Throwable ex) {
            // An Error, such as a lack of threads for the connection, passes like a loss of the connection.
            fail(ex);
        } finally {
            changeTo(false);
            if (closed) {
                // It may have been opened after the other thread aborted it.
                subscription.abort();
            } else {
                subscription.close();
            }
        }
        return closed
                ? Time.NEVER
                : time.nanoTime() + (available ? BACKOFF.pauseNanos(failures) : SILENCE.pauseNanos(silences));
    }

    private void receive(String message) {
        if (!message.startsWith(TEST)) {
            messages.receive(message);
            return;
        }
        Test current = test;
        // Others are late, and count no more.
        if (current != null && current.message.equals(message)) {
            current.arrived();
        }
    }

    private void listen() throws Exception {
        available = true;
        silences = 0;
        listeningSince = time.nanoTime();
        changeTo(true);
        while (!closed) {
            hears(new CompletableFuture<>(), INTERVAL);
            if (time.nanoTime() - neededAt >= NEEDED_NANOS) {
                subscription.ping();
            } else if (!testPasses()) {
                throw new TimeoutException("A message of this process to itself has not arrived");
            }
            failures = 0;
            if (warned) {
                warned = false;
                log.info("Wake-ups from " + store + " arrive again");
            }
        }
    }

    private boolean testPasses() throws Exception {
        Test sent = new Test();
        test = sent;
        sent.sent(subscription.send(sent.message));
        boolean passes = hears(sent.passed, TRAVEL);
        if (!passes) {
            subscription.distrust();
        }
        return passes;
    }

    private boolean hears(CompletableFuture<?> until, Duration atMost) throws Exception {
        try {
            subscription.listen(until, atMost);
            return until.isDone();
        } finally {
            until.cancel(false);
        }
    }

    private void testLater() {
        available = false;
        silences++;
        if (mayWarn()) {
            log.warn(
                    "Wake-ups from " + store + " do not pass the pooler or proxy in front of it; waiting callers poll");
        }
    }

    /** A connection that has listened for longer than the pause before it ends the failures until then. */
    private void fail(Throwable ex) {
        if (connected && time.nanoTime() - listeningSince > BACKOFF.pauseNanos(failures)) {
            failures = 0;
        }
        failures++;
        if (mayWarn()) {
            warn(ex);
        }
    }

    /** Once per outage: from then on it is tried again and again. */
    private boolean mayWarn() {
        boolean first = !warned && !closed;
        warned |= first;
        return first;
    }

    private void warn(Throwable ex) {
        log.warn("Wake-ups from " + store + " do not arrive; waiting callers poll until they do", ex);
    }

    private void changeTo(boolean now) {
        if (connected != now) {
            connected = now;
            log.debug(now ? "Wake-ups arrive" : "Wake-ups do not arrive");
            engine.wakeUpsMissed();
        }
    }
}
