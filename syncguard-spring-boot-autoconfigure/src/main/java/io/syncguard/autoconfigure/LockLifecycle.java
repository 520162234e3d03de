package io.syncguard.autoconfigure;

import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.concurrent.Shielded;
import io.syncguard.core.LockEngine;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.springframework.context.SmartLifecycle;

/**
 * Stops the engines after everything that may run under a lock: web server, schedulers, message listeners. If Spring
 * waits for tasks of executors later, when it destroys the beans, the engines go on until they are destroyed, too. The
 * connections close after that.
 */
final class LockLifecycle implements SmartLifecycle {

    /** The lowest phases start first and stop last. Other components have phases from zero up. */
    private static final int PHASE = Integer.MIN_VALUE / 2;

    private final ThreadFactory stoppers = DaemonThreadFactory.named("syncguard-stop");
    private final Supplier<List<LockEngine>> engines;
    private final BooleanSupplier tasksGoOn;

    /** Written by the thread that starts or stops the application, read by all. */
    private volatile boolean running;

    /**
     * @param engines gives the current engines, because those of tenants may change
     * @param tasksGoOn whether tasks go on after the stop, until the beans are destroyed
     */
    LockLifecycle(Supplier<List<LockEngine>> engines, BooleanSupplier tasksGoOn) {
        this.engines = engines;
        this.tasksGoOn = tasksGoOn;
    }

    @Override
    public void start() {
        engines.get().forEach(LockEngine::start);
        running = true;
    }

    /**
     * Stops all engines at the same time, the first one on this thread. If they stopped one after the other, the second
     * would grant locks while the first waits for its bodies, and the stop could take two shutdown timeouts.
     */
    @Override
    public void stop() {
        List<LockEngine> all = engines.get();
        Thread caller = Thread.currentThread();
        Consumer<LockEngine> stop =
                tasksGoOn.getAsBoolean() ? engine -> engine.drain(caller) : engine -> engine.stop(caller);
        List<CompletableFuture<Void>> others = all.stream()
                .skip(1)
                .map(engine -> CompletableFuture.runAsync(() -> shielded(stop, engine), this::runOnNewThread))
                .toList();
        all.stream().findFirst().ifPresent(engine -> shielded(stop, engine));
        others.forEach(CompletableFuture::join);
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

    private static void shielded(Consumer<LockEngine> stop, LockEngine engine) {
        Shielded.closeAll(() -> stop.accept(engine));
    }

    private void runOnNewThread(Runnable task) {
        stoppers.newThread(task).start();
    }
}
