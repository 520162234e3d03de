package io.syncguard.micrometer;

import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockListener;
import io.syncguard.LockMode;
import io.syncguard.LockOperation;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Counts and times what happens to locks, under {@code syncguard.lock.*}. Thread-safe.
 *
 * <p>Every meter has the tags {@code name} (of the annotation or request), {@code mode} and {@code backend}. The first
 * 500 names have separate meters. All further names share {@code other}. A member of an election waits until it leads,
 * so its waits are in none of the times.
 */
public final class LockMeters implements LockListener {

    private final MeterRegistry registry;
    private final ConcurrentMap<MeterGroup.Id, MeterGroup> groups = new ConcurrentHashMap<>();
    private final BoundedNames names = new BoundedNames(true);
    private final HoldingRecorder holding = new HoldingRecorder();

    /** The waits that last, by the threads of their callers. A thread waits for one lock at a time. */
    private final ConcurrentMap<Thread, LongTaskTimer.Sample> waits = new ConcurrentHashMap<>();

    public LockMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    /**
     * Makes the meters of locks that are known before their first grant, at zero. A monitoring system does not see the
     * first event of a counter that appears with that event.
     *
     * @param permits how many a key has; 0 for locks without permits
     */
    public void prepare(String name, LockMode mode, int permits, String backend) {
        MeterGroup group = of(name, mode, backend);
        if (permits > 0) {
            group.limit(permits);
        }
    }

    @Override
    public void waitStarted(LockEvent event) {
        MeterGroup group = of(event);
        group.waitStarted(event);
        LongTaskTimer queueing = group.queueing();
        if (queueing != null) {
            waits.put(Thread.currentThread(), queueing.start());
        }
    }

    @Override
    public void waitEnded(LockEvent event) {
        LongTaskTimer.Sample wait = waits.remove(Thread.currentThread());
        if (wait != null) {
            wait.stop();
        }
        of(event).waitEnded(event);
    }

    @Override
    public void acquired(LockEvent event) {
        MeterGroup group = of(event);
        group.acquired(event);
        holding.begin(event, group.holding());
    }

    @Override
    public void refused(LockEvent event) {
        of(event).refused(event);
    }

    @Override
    public void extended(LockEvent event) {
        of(event).extended(event);
    }

    @Override
    public void released(LockEvent event) {
        holding.end(event);
        of(event).released(event);
    }

    @Override
    public void lost(LockEvent event) {
        holding.end(event);
        of(event).lost(event);
    }

    /** The lock may have ended meanwhile, which another thread reports. */
    @Override
    public void leaked(LockEvent event) {
        MeterGroup group = of(event);
        group.leakReported();
        if (!holding.atEnd(event, group::leakEnded)) {
            group.leakEnded();
        }
    }

    @Override
    public void failed(LockEvent event, LockOperation operation, LockException error) {
        of(event).failed(event, operation, error.code());
    }

    private MeterGroup of(LockEvent event) {
        return of(event.name(), event.mode(), event.backend());
    }

    private MeterGroup of(String name, LockMode mode, String backend) {
        MeterGroup known = groups.get(new MeterGroup.Id(name, mode, backend));
        return known != null
                ? known
                : groups.computeIfAbsent(
                        new MeterGroup.Id(names.bounded(name), mode, backend), id -> new MeterGroup(registry, id));
    }
}
