package io.syncguard.spi;

import io.syncguard.concurrent.Alarm;
import io.syncguard.concurrent.Backoff;
import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import java.time.Duration;
import java.util.concurrent.ThreadFactory;
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
 */
public final class WakeUpSubscriber implements AutoCloseable {

    private static final Log log = LogFactory.getLog(WakeUpSubscriber.class);

    private static final Backoff BACKOFF = Backoff.doubling(Duration.ofMillis(100), Duration.ofSeconds(5));

    /** How long until it tests again whether messages arrive. */
    private static final long NEXT_TEST_NANOS = Duration.ofMinutes(10).toNanos();

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

    /** The failures since the subscription last worked. The listening thread alone reads and writes it. */
    private int failures;

    /**
     * A store's way to listen to one channel. It is opened again after it was closed. The listening thread alone
     * calls it, but for {@link #abort}.
     */
    public interface Subscription {

        /**
         * Connects, subscribes and tests that messages arrive.
         *
         * @param receiver takes each message, on any thread
         * @return false if the connection stands and messages do not arrive on it
         */
        boolean open(Consumer<String> receiver) throws Exception;

        /** Listens for some seconds, and makes sure that the server is still there. Throws when it is not. */
        void listen() throws Exception;

        /** Gives back what was opened, if anything was. Throws nothing, and waits for nobody. */
        void close();

        /**
         * Ends the call that is under way, for good. Called in place of {@link #close}, by another thread, more than
         * once.
         */
        void abort();
    }

    /**
     * @param store the name of the store, for people
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

    /** Subscribes, unless that was done before. If no thread can be made, the next waiter tries again. */
    public void start() {
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
            if (subscription.open(messages::receive)) {
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
        return closed ? Time.NEVER : time.nanoTime() + (available ? BACKOFF.pauseNanos(failures) : NEXT_TEST_NANOS);
    }

    private void listen() throws Exception {
        available = true;
        changeTo(true);
        while (!closed) {
            subscription.listen();
            failures = 0;
        }
    }

    private void testLater() {
        if (available && !closed) {
            log.warn(
                    "Wake-ups from " + store + " do not pass the pooler or proxy in front of it; waiting callers poll");
        }
        available = false;
    }

    private void fail(Throwable ex) {
        // Once per loss: from then on it is tried again and again.
        if (failures == 0 && available && !closed) {
            warn(ex);
        }
        failures++;
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
