package io.syncguard.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockListener;
import io.syncguard.LockMode;
import io.syncguard.LockOperation;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts and times what happens to locks, under {@code syncguard.lock.*}. Threads may share it.
 *
 * <p>Every meter has the tags {@code name} (of the annotation or request, never a key), {@code mode} and
 * {@code backend}. The first {@value #MAX_NAMES} names have separate meters. All further names share {@value #OTHER},
 * so that names made from data by mistake cannot fill the registry.
 */
public final class LockMeters implements LockListener {

    private static final int MAX_NAMES = 500;

    private static final String OTHER = "other";

    private final MeterRegistry registry;
    private final ConcurrentMap<Id, Meters> byId = new ConcurrentHashMap<>();
    private final Set<String> names = ConcurrentHashMap.newKeySet();

    public LockMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void waitStarted(LockEvent event) {
        of(event).waiting.incrementAndGet();
    }

    @Override
    public void waitEnded(LockEvent event) {
        of(event).waiting.decrementAndGet();
    }

    @Override
    public void acquired(LockEvent event) {
        of(event).acquired.record(event.elapsed());
        of(event).active.incrementAndGet();
    }

    @Override
    public void refused(LockEvent event) {
        of(event).refused.record(event.elapsed());
    }

    @Override
    public void extended(LockEvent event) {
        of(event).extended.increment();
    }

    @Override
    public void released(LockEvent event) {
        of(event).released.increment();
        endHold(event);
    }

    @Override
    public void lost(LockEvent event) {
        of(event).lost.increment();
        endHold(event);
    }

    @Override
    public void failed(LockEvent event, LockOperation operation, LockException error) {
        Meters meters = of(event);
        switch (operation) {
            case ACQUIRE -> meters.acquireFailed.record(event.elapsed());
            case EXTEND -> meters.extendFailed.increment();
            case RELEASE -> meters.releaseFailed.increment();
        }
    }

    private void endHold(LockEvent event) {
        of(event).held.record(event.elapsed());
        of(event).active.decrementAndGet();
    }

    private Meters of(LockEvent event) {
        Meters known = byId.get(new Id(event.name(), event.mode(), event.backend()));
        if (known != null) {
            return known;
        }
        String name = OTHER;
        if (names.contains(event.name()) || names.size() < MAX_NAMES) {
            name = event.name();
            names.add(name);
        }
        return byId.computeIfAbsent(new Id(name, event.mode(), event.backend()), id -> new Meters(registry, id));
    }

    /** The tags of a group of meters. */
    private record Id(String name, LockMode mode, String backend) {}

    /** The meters with the same tags. */
    private static final class Meters {

        private final MeterRegistry registry;
        private final Tags tags;
        private final Timer acquired;
        private final Timer refused;
        private final Timer acquireFailed;
        private final Timer held;
        private final Counter extended;
        private final Counter extendFailed;
        private final Counter released;
        private final Counter releaseFailed;
        private final Counter lost;
        private final AtomicInteger active;
        private final AtomicInteger waiting;

        Meters(MeterRegistry registry, Id id) {
            this.registry = registry;
            this.tags =
                    Tags.of("name", id.name, "mode", id.mode.name().toLowerCase(Locale.ROOT), "backend", id.backend);
            this.acquired = timer("acquire", "Time to acquire a lock", "acquired");
            this.refused = timer("acquire", "Time to acquire a lock", "refused");
            this.acquireFailed = timer("acquire", "Time to acquire a lock", "failed");
            this.held = Timer.builder("syncguard.lock.held")
                    .description("Time from the grant of a lock to its end")
                    .tags(tags)
                    .register(registry);
            this.extended = counter("extend", "Extensions of leases", "extended");
            this.extendFailed = counter("extend", "Extensions of leases", "failed");
            this.released = counter("release", "Releases of locks", "released");
            this.releaseFailed = counter("release", "Releases of locks", "failed");
            this.lost = Counter.builder("syncguard.lock.lost")
                    .description("Locks that were lost while they were held")
                    .tags(tags)
                    .register(registry);
            this.active = gauge("active", "Locks that are held now");
            this.waiting = gauge("waiting", "Callers that wait for a lock now");
        }

        private Timer timer(String meter, String description, String outcome) {
            return Timer.builder("syncguard.lock." + meter)
                    .description(description)
                    .tags(tags.and("outcome", outcome))
                    .register(registry);
        }

        private Counter counter(String meter, String description, String outcome) {
            return Counter.builder("syncguard.lock." + meter)
                    .description(description)
                    .tags(tags.and("outcome", outcome))
                    .register(registry);
        }

        private AtomicInteger gauge(String meter, String description) {
            AtomicInteger value = new AtomicInteger();
            Gauge.builder("syncguard.lock." + meter, value, AtomicInteger::get)
                    .description(description)
                    .tags(tags)
                    .register(registry);
            return value;
        }
    }
}
