package io.syncguard.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.syncguard.concurrent.Alarm;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.spi.WakeUpMessages;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Hears whom releases wake, by {@code SUBSCRIBE} on a connection of its own and a channel that only this process has.
 *
 * <p>The thread {@code syncguard-listener} connects when somebody waits for the first time, asks now and then whether the
 * server is still there, and connects again where it is not. A connection that was lost is made again by the driver, which
 * subscribes again, too. Each time everybody who waits is looked at once: a wake-up may have been sent before it listened.
 */
final class RedisWakeUps implements AutoCloseable {

    private static final Log log = LogFactory.getLog(RedisWakeUps.class);

    /** How often the server is asked whether it is still there, every 10 s. */
    private static final long SILENCE_NANOS = Duration.ofSeconds(10).toNanos();

    private static final int ANSWER_SECONDS = 2;

    /** The first pause before it connects again, 100 ms; it doubles up to five seconds. */
    private static final long FIRST_PAUSE_NANOS = Duration.ofMillis(100).toNanos();

    private static final long LONGEST_PAUSE_NANOS = Duration.ofSeconds(5).toNanos();

    private final String channel;
    private final RedisConnections connections;
    private final WakeUpListener wakeUps;
    private final WakeUpMessages messages;
    private final Time time;
    private final Alarm alarm;

    /** Written by the threads of the driver and the listening thread, and read by all. */
    private volatile boolean connected;

    private volatile boolean started;
    private volatile boolean closed;

    private final ReentrantLock changing = new ReentrantLock();

    /** Written by the listening thread, and guarded by {@link #changing} for all others. */
    private @Nullable StatefulRedisPubSubConnection<String, String> connection;

    /** Of the listening thread alone. */
    private long pause = FIRST_PAUSE_NANOS;

    RedisWakeUps(String channel, RedisConnections connections, WakeUpListener wakeUps, Time time) {
        this.channel = channel;
        this.connections = connections;
        this.wakeUps = wakeUps;
        this.messages = new WakeUpMessages(wakeUps, time);
        this.time = time;
        this.alarm = new Alarm("syncguard-listener", time, this::listen);
    }

    /** Where this process is woken. */
    String channel() {
        return channel;
    }

    /** With which a waiter of this process is handed a key. */
    String secretOf(long waiter) {
        return messages.secretOf(waiter);
    }

    /** Has a connection made, if that was not done before. */
    void start() {
        if (!started) {
            started = true;
            alarm.ringAt(time.nanoTime());
        }
    }

    boolean isConnected() {
        return connected;
    }

    /** The connection ends with the others. */
    @Override
    public void close() {
        closed = true;
        alarm.close();
    }

    /** Makes sure that it listens; answers when to look again. */
    private long listen() {
        if (closed) {
            return Time.NEVER;
        }
        StatefulRedisPubSubConnection<String, String> opened = connection;
        try {
            if (opened == null) {
                opened = connections.subscriber();
                use(opened);
                subscribe(opened);
            } else {
                await(opened.async().ping());
            }
            pause = FIRST_PAUSE_NANOS;
            return time.nanoTime() + SILENCE_NANOS;
        } catch (ExecutionException | TimeoutException | RuntimeException ex) {
            report(ex);
        } catch (InterruptedException ex) {
            // Nobody has this thread but its owner, who ends it by close().
            log.debug("Interrupted while connecting for wake-ups", ex);
        }
        if (opened != null) {
            // Not waited for: the driver may be ending.
            opened.closeAsync();
        }
        use(null);
        long next = time.nanoTime() + pause;
        pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
        return next;
    }

    private void subscribe(StatefulRedisPubSubConnection<String, String> opened)
            throws InterruptedException, ExecutionException, TimeoutException {
        opened.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void subscribed(String subscribed, long count) {
                changeTo(true, opened);
            }

            @Override
            public void message(String from, String message) {
                messages.receive(message);
            }
        });
        opened.addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> lost) {
                changeTo(false, opened);
            }
        });
        await(opened.async().subscribe(channel));
    }

    private static void await(RedisFuture<?> answer) throws InterruptedException, ExecutionException, TimeoutException {
        answer.get(ANSWER_SECONDS, TimeUnit.SECONDS);
    }

    /** From now on nothing counts that is told of the one before. */
    private void use(@Nullable StatefulRedisPubSubConnection<String, String> next) {
        changing.lock();
        try {
            connection = next;
            changeTo(false, next);
        } finally {
            changing.unlock();
        }
    }

    private void changeTo(boolean now, @Nullable StatefulRedisPubSubConnection<String, String> told) {
        changing.lock();
        try {
            if (told == connection && connected != now) {
                connected = now;
                log.debug(now ? "Wake-ups arrive" : "Wake-ups do not arrive");
                wakeUps.wakeUpsMissed();
            }
        } finally {
            changing.unlock();
        }
    }

    private void report(Exception ex) {
        // Once per loss: from then on it is tried again and again.
        if (!closed && pause == FIRST_PAUSE_NANOS) {
            log.warn("Wake-ups from Redis do not arrive; who waits for a lock asks for it until they do", ex);
        }
    }
}
