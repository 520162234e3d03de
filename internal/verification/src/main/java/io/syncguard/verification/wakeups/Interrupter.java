package io.syncguard.verification.wakeups;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Interrupts client threads while they wait. */
final class Interrupter {

    private final ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "interrupter");
        thread.setDaemon(true);
        return thread;
    });

    /** Interrupts the calling thread after this time, unless the caller ends the interrupt before. */
    Interrupt interruptAfter(long micros) {
        Interrupt interrupt = new Interrupt(Thread.currentThread());
        scheduler.schedule(interrupt, micros, TimeUnit.MICROSECONDS);
        return interrupt;
    }

    /** Interrupts a thread once, unless {@link #end} was called before. A cancelled future could still be running. */
    static final class Interrupt implements Runnable {

        private final Thread target;

        /** Guarded by this. */
        private boolean ended;

        private Interrupt(Thread target) {
            this.target = target;
        }

        @Override
        public synchronized void run() {
            if (!ended) {
                target.interrupt();
            }
        }

        /** Called by the target. It gets no late interrupt after this. */
        synchronized void end() {
            ended = true;
            Thread.interrupted();
        }
    }
}
