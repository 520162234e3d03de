package io.syncguard.autoconfigure;

import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.concurrent.Shielded;
import io.syncguard.core.LockEngine;
import java.time.Duration;
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

    /** Spring's test framework pauses an application that the next test class does not use. */
    private static final String CONTEXTS_OF_TESTS = "org.springframework.test.context.cache.";

    private final ThreadFactory stoppers = DaemonThreadFactory.named("syncguard-stop");
    private final Supplier<List<LockEngine>> engines;
    private final BooleanSupplier tasksGoOn;
    private final BooleanSupplier closes;

    /** Written by the thread that starts or stops the application, read by all. */
    private volatile boolean running;

    /**
     * @param engines gives the current engines, because those of tenants may change
     * @param tasksGoOn whether tasks go on after the stop, until the beans are destroyed
     * @param closes whether the application stops for good
     */
    LockLifecycle(Supplier<List<LockEngine>> engines, BooleanSupplier tasksGoOn, BooleanSupplier closes) {
        this.engines = engines;
        this.tasksGoOn = tasksGoOn;
        this.closes = closes;
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
        Consumer<LockEngine> stop = end(Thread.currentThread());
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

    /** A test class that has ended releases nothing any more, so the next one does not wait for it. */
    private Consumer<LockEngine> end(Thread caller) {
        if (!closes.getAsBoolean() && isPausedBetweenTests()) {
            return engine -> engine.stop(caller, Duration.ZERO);
        }
        return tasksGoOn.getAsBoolean() ? engine -> engine.drain(caller) : engine -> engine.stop(caller);
    }

    private static boolean isPausedBetweenTests() {
        return StackWalker.getInstance()
                .walk(frames -> frames.anyMatch(frame -> frame.getClassName().startsWith(CONTEXTS_OF_TESTS)));
    }

    private static void shielded(Consumer<LockEngine> stop, LockEngine engine) {
        Shielded.closeAll(() -> stop.accept(engine));
    }

    private void runOnNewThread(Runnable task) {
        stoppers.newThread(task).start();
    }
}
