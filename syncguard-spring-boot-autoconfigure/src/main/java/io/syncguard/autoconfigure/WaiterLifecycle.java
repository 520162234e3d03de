package io.syncguard.autoconfigure;

import io.syncguard.core.LockEngine;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.Ordered;

/**
 * Aborts callers that wait and hold no lock when the application begins to stop: message listeners, executors and the
 * web server wait for such callers. {@link LockLifecycle} stops the engines after these.
 *
 * <p>The event comes before all lifecycles stop, and before Spring Boot closes child contexts. A context that only
 * stops or pauses publishes none.
 */
final class WaiterLifecycle implements SmartLifecycle, ApplicationListener<ContextClosedEvent>, Ordered {

    private final Supplier<List<LockEngine>> engines;
    private final ApplicationContext context;

    /** Written by the thread that starts or stops the application, read by all. */
    private volatile boolean running;

    /**
     * @param engines gives the current engines, because those of tenants may change
     * @param context the context of the engines, which also receives the events of its child contexts
     */
    WaiterLifecycle(Supplier<List<LockEngine>> engines, ApplicationContext context) {
        this.engines = engines;
        this.context = context;
    }

    @Override
    public void onApplicationEvent(ContextClosedEvent event) {
        if (event.getApplicationContext() == context) {
            abortWaiters();
        }
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        abortWaiters();
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** The first to stop, like most message listeners. */
    @Override
    public int getPhase() {
        return DEFAULT_PHASE;
    }

    /** The first to receive the event. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    private void abortWaiters() {
        engines.get().forEach(engine -> engine.abortWaiters(Thread.currentThread()));
    }
}
