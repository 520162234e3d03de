package io.syncguard.jdbc;

import io.syncguard.concurrent.Alarm;
import io.syncguard.concurrent.Time;
import java.sql.Connection;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The running requests, and the thread that ends those that time out or whose caller is interrupted. A driver limits
 * only each single read, and does not react to an interrupt.
 *
 * <p>Thread-safe.
 */
public final class RunningRequests implements AutoCloseable {

    /** Maximum delay of an interrupt: longer than most statements, and too short for a person to notice. */
    private static final long LOOK_NANOS = Duration.ofMillis(50).toNanos();

    private final Set<RunningRequest> running = ConcurrentHashMap.newKeySet();
    private final Time time;
    private final Alarm alarm;

    public RunningRequests(Time time) {
        this.time = time;
        this.alarm = new Alarm("syncguard-requests", time, this::endDue);
    }

    Time time() {
        return time;
    }

    /**
     * Begins a request of the running thread, which has to close it before the pool can lend the connection again.
     *
     * @param deadline when the request times out
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

    private long endDue() {
        long now = time.nanoTime();
        running.forEach(request -> request.endIfDue(now));
        return running.isEmpty() ? Time.NEVER : now + LOOK_NANOS;
    }
}
