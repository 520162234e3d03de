package io.syncguard.verification.stress;

import io.syncguard.testing.ThreadShortage;
import io.syncguard.verification.WorkerProcess;
import io.syncguard.verification.history.HistoryEvent;
import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.recording.HistoryRecorder;
import io.syncguard.verification.stress.StressServer.Disturbance;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Disturbs the workers of a run in the calling thread, and their server in one thread per kind of disturbance. */
final class StressDisturber {

    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000 * MILLI;

    /** The time before the end in which no worker is killed: a new one would start too late. */
    private static final long RESTART_NANOS = 5 * SECOND;

    private final StressServer server;
    private final WorkerFleet fleet;
    private final HistoryRecorder recorder;
    private final Random random;

    /** A worker starts under the write lock, because its first statements need sessions that live for a few seconds. */
    private final ReadWriteLock noStart = new ReentrantReadWriteLock();

    @FunctionalInterface
    private interface Action {
        void run() throws Exception;
    }

    StressDisturber(StressServer server, WorkerFleet fleet, HistoryRecorder recorder, Random random) {
        this.server = server;
        this.fleet = fleet;
        this.recorder = recorder;
        this.random = random;
    }

    void disturbUntil(long end) throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            List<Future<?>> disturbing = new ArrayList<>();
            for (Disturbance each : server.disturbances(recorder, new Random(random.nextLong()))) {
                disturbing.add(threads.submit(repeated(each, end)));
            }
            disturbProcesses(end);
            for (Future<?> each : disturbing) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private Callable<Void> repeated(Disturbance disturbance, long end) {
        return () -> {
            while (System.nanoTime() < end) {
                holding(noStart.readLock(), disturbance.action()::run);
                LockSupport.parkNanos(disturbance.pauseMillis() * MILLI);
            }
            return null;
        };
    }

    private void disturbProcesses(long end) throws Exception {
        for (int round = 0; System.nanoTime() < end - SECOND; round++) {
            int index = random.nextInt(fleet.size());
            if (round % 4 == 1 && end - System.nanoTime() > RESTART_NANOS) {
                killAndRestart(index, end);
            } else if (round % 4 == 2 && ThreadShortage.isPossible()) {
                takeAndGiveThreads(fleet.worker(index));
            } else {
                pauseAndResume(fleet.worker(index));
            }
            LockSupport.parkNanos(300 * MILLI);
        }
    }

    private void killAndRestart(int index, long end) throws Exception {
        WorkerProcess victim = fleet.worker(index);
        HistoryEvent killed = HistoryEvent.of(
                Kind.PROCESS_ENDED, new HistoryEvent.Source(victim.name(), "killed", 0), "", "", System.nanoTime());
        victim.kill();
        recorder.write(killed.answered(System.nanoTime(), Outcome.OK));
        holding(noStart.writeLock(), () -> fleet.replace(index, end));
    }

    private static void holding(Lock lock, Action action) throws Exception {
        lock.lock();
        try {
            action.run();
        } finally {
            lock.unlock();
        }
    }

    private void takeAndGiveThreads(WorkerProcess worker) throws Exception {
        worker.takeThreads();
        LockSupport.parkNanos((200 + random.nextInt(1500)) * MILLI);
        worker.giveThreads();
    }

    /** Pauses for less than most leases, or for longer than all leases and the tolerance. */
    private void pauseAndResume(WorkerProcess worker) throws Exception {
        worker.pause();
        LockSupport.parkNanos((random.nextBoolean() ? 50 + random.nextInt(300) : 1200 + random.nextInt(1300)) * MILLI);
        worker.resume();
    }
}
