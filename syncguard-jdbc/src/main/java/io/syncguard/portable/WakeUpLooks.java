package io.syncguard.portable;

import io.syncguard.LockBackendException;
import io.syncguard.concurrent.Alarm;
import io.syncguard.concurrent.Time;
import io.syncguard.portable.LeaseRows.Message;
import io.syncguard.rules.WakeUp;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.WakeUpListener;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Looks for messages of other processes while somebody waits here: one statement finds those of all waiters. The pause
 * between two looks grows while there are none.
 */
final class WakeUpLooks implements AutoCloseable {

    private static final Log log = LogFactory.getLog(WakeUpLooks.class);

    private static final long SHORTEST_PAUSE = Duration.ofMillis(10).toNanos();
    private static final long LONGEST_PAUSE = Duration.ofMillis(30).toNanos();

    /** In the long run there are at most 50 looks per second, and at most ten more at once. */
    private static final long EACH_LOOK = Duration.ofMillis(20).toNanos();

    private final LeaseRows rows;
    private final String channel;
    private final long waiterTtl;
    private final Time time;
    private final Alarm alarm;

    private volatile @Nullable WakeUpListener listener;
    private volatile boolean paused;
    private volatile boolean working = true;

    /** The waiters of this process by their lock ids, and when the entry of each ends unless it is renewed. */
    private final Map<String, Long> waiting = new ConcurrentHashMap<>();

    /** When a request queued last, which makes the pause short again. */
    private volatile boolean moved;

    /** When the next look may be. Only the looking thread writes it. */
    private volatile long next;

    /** Only the looking thread uses these. */
    private long pause = SHORTEST_PAUSE;

    private Set<Message> delivered = Set.of();

    WakeUpLooks(LeaseRows rows, String channel, Duration waiterTtl, Time time) {
        this.waiterTtl = waiterTtl.toNanos();
        this.rows = rows;
        this.channel = channel;
        this.time = time;
        this.next = time.nanoTime();
        this.alarm = new Alarm("syncguard-wake-ups", time, this::look);
    }

    void connect(WakeUpListener engine) {
        listener = engine;
    }

    /** Somebody waits. */
    void queued(String lockId) {
        waiting.put(lockId, time.nanoTime() + waiterTtl);
        moved = true;
        alarm.ringAt(Math.max(next, time.nanoTime() + SHORTEST_PAUSE));
    }

    /** A queue entry was renewed. */
    void renewed(String lockId) {
        waiting.put(lockId, time.nanoTime() + waiterTtl);
        alarm.ringAt(time.nanoTime() + LONGEST_PAUSE);
    }

    /** A lock id that does not wait, or no longer does. */
    void left(String lockId) {
        waiting.remove(lockId);
    }

    /** Where this process receives messages, if later looks succeed; {@code null} without an engine. */
    @Nullable
    String channel() {
        return listener == null ? null : channel;
    }

    boolean areWorking() {
        return working;
    }

    void pause() {
        paused = true;
    }

    void resume() {
        paused = false;
        moved = true;
    }

    /** Delivers a message to a waiter of this process. */
    void deliver(WakeUp message) {
        deliver(message.waiterNumber(), message.handOver());
    }

    private void deliver(long waiterNumber, AcquireResult.@Nullable Granted handOver) {
        WakeUpListener engine = Objects.requireNonNull(listener, "The engine connects before the first request");
        if (handOver == null) {
            engine.wake(waiterNumber);
        } else {
            engine.handOver(waiterNumber, handOver);
        }
    }

    private boolean nobodyWaits() {
        waiting.values().removeIf(end -> time.nanoTime() - end > 0);
        return waiting.isEmpty();
    }

    private long look() {
        if (paused || listener == null || nobodyWaits()) {
            return Time.NEVER;
        }
        pause = moved ? SHORTEST_PAUSE : Math.min(LONGEST_PAUSE, pause * 5 / 4);
        moved = false;
        try {
            List<Message> messages = rows.messagesTo(channel);
            Set<Message> known = delivered;
            delivered = new HashSet<>(messages);
            messages.stream().filter(message -> !known.contains(message)).forEach(message -> {
                moved = true;
                if (message.handOver() != null) {
                    left(message.lockId());
                }
                deliver(message.waiterNumber(), message.handOver());
            });
            if (!working) {
                working = true;
                Objects.requireNonNull(listener).wakeUpsMissed();
            }
        } catch (LockBackendException ex) {
            if (working && !paused) {
                working = false;
                log.warn("Wake-ups do not arrive; waiting callers poll until they do", ex);
            }
            pause = Math.max(pause, LONGEST_PAUSE) * 5;
        }
        next = Math.max(next, time.nanoTime() - 10 * EACH_LOOK) + EACH_LOOK;
        return Math.max(next, time.nanoTime() + pause);
    }

    @Override
    public void close() {
        alarm.close();
    }
}
