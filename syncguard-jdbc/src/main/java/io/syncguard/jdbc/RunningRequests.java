package io.syncguard.jdbc;

import io.syncguard.concurrent.Alarm;
import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.concurrent.Time;
import java.sql.Connection;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The running requests, and the thread that ends those that time out or whose caller is interrupted. A driver limits
 * only each single read, and does not react to an interrupt. An abort that takes long delays no other one.
 *
 * <p>Thread-safe.
 */
public final class RunningRequests implements AutoCloseable {

    /** Maximum delay of an interrupt: longer than most statements, and too short for a person to notice. */
    private static final long LOOK_NANOS = Duration.ofMillis(50).toNanos();

    private final Set<RunningRequest> running = ConcurrentHashMap.newKeySet();
    private final Time time;
    private final Alarm alarm;
    private final ExecutorService aborts = new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            1,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            DaemonThreadFactory.named("syncguard-abort"));

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
        aborts.shutdown();
    }

    /** Without a thread, such as for a lack of memory, the abort delays the others. */
    private void abort(Runnable abort) {
        try {
            aborts.execute(abort);
        } catch (RejectedExecutionException | OutOfMemoryError ex) {
            abort.run();
        }
    }

    private long endDue() {
        long now = time.nanoTime();
        running.forEach(request -> request.endIfDue(now, this::abort));
        return running.isEmpty() ? Time.NEVER : now + LOOK_NANOS;
    }
}
