package io.syncguard.postgres;

import io.syncguard.concurrent.Alarm;
import io.syncguard.concurrent.Time;
import java.sql.Connection;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The requests that are under way, and the thread that ends those whose time is over or whose caller was interrupted. A
 * driver limits each read by itself, and does not see an interrupt.
 *
 * <p>Thread-safe.
 */
final class RunningRequests implements AutoCloseable {

    /** How long an interrupt waits for the thread at most: short for a person, long for a statement. */
    private static final long LOOK_NANOS = Duration.ofMillis(50).toNanos();

    private final Set<RunningRequest> running = ConcurrentHashMap.newKeySet();
    private final Time time;
    private final Alarm alarm;

    RunningRequests(Time time) {
        this.time = time;
        this.alarm = new Alarm("syncguard-requests", time, this::endThoseOver);
    }

    Time time() {
        return time;
    }

    /**
     * Begins a request of the running thread, which has to close it before the pool can lend the connection again.
     *
     * @param deadline when its time is over
     * @param interruptible whether an interrupt ends it
     */
    RunningRequest begin(Connection connection, long deadline, boolean interruptible) {
        RunningRequest request = new RunningRequest(connection, deadline, interruptible, running::remove);
        running.add(request);
        alarm.ringAt(time.nanoTime() + LOOK_NANOS);
        return request;
    }

    @Override
    public void close() {
        alarm.close();
    }

    private long endThoseOver() {
        long now = time.nanoTime();
        running.forEach(request -> request.endIfOver(now));
        return running.isEmpty() ? Time.NEVER : now + LOOK_NANOS;
    }
}
