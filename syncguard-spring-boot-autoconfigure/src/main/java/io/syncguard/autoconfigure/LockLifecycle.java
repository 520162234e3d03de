package io.syncguard.autoconfigure;

import io.syncguard.core.LockEngine;
import org.springframework.context.SmartLifecycle;

/**
 * Stops the engine after everything that may run under a lock: web server, schedulers, message listeners. Its connections
 * close later still, when the beans are destroyed.
 */
final class LockLifecycle implements SmartLifecycle {

    /** The lowest phases start first and stop last; the usual ones are not negative. */
    private static final int PHASE = Integer.MIN_VALUE / 2;

    private final LockEngine engine;

    /** Written by the thread that starts or stops the application, read by all. */
    private volatile boolean running;

    LockLifecycle(LockEngine engine) {
        this.engine = engine;
    }

    @Override
    public void start() {
        engine.start();
        running = true;
    }

    @Override
    public void stop() {
        engine.stop();
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
