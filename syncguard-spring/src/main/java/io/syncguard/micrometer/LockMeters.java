package io.syncguard.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockListener;
import io.syncguard.LockOperation;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Counts and times what happens to locks, under {@code syncguard.lock.*}. Thread-safe.
 *
 * <p>Every meter has the tags {@code name} (of the annotation or request), {@code mode} and {@code backend}. The first
 * 500 names have separate meters. All further names share {@code other}.
 */
public final class LockMeters implements LockListener {

    private final MeterRegistry registry;
    private final ConcurrentMap<MeterGroup.Id, MeterGroup> groups = new ConcurrentHashMap<>();
    private final BoundedNames names = new BoundedNames();
    private final HoldingRecorder holding = new HoldingRecorder();

    public LockMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void waitStarted(LockEvent event) {
        of(event).waitStarted(event);
    }

    @Override
    public void waitEnded(LockEvent event) {
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
        MeterGroup known = groups.get(new MeterGroup.Id(event.name(), event.mode(), event.backend()));
        if (known != null) {
            return known;
        }
        String name = names.bounded(event.name());
        return groups.computeIfAbsent(
                new MeterGroup.Id(name, event.mode(), event.backend()), id -> new MeterGroup(registry, id));
    }
}
