package io.syncguard.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import io.syncguard.LockErrorCode;
import io.syncguard.LockEvent;
import io.syncguard.LockLimits;
import io.syncguard.LockMode;
import io.syncguard.LockOperation;
import io.syncguard.LockReason;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The meters with the same tags. Thread-safe.
 *
 * <p>All meters of one name have the same tags, because Prometheus requires that. A meter with a tag for its outcome
 * also has one for the error.
 */
final class MeterGroup {

    private static final String NO_ERROR = "none";

    /** The reasons of losses. */
    private static final Set<LockReason> LOSSES =
            EnumSet.complementOf(EnumSet.of(LockReason.LOCKED, LockReason.RELEASED));

    private final MeterRegistry registry;
    private final Tags tags;

    /** The timers of an election are {@code null}: its members wait for days, and are refused by design. */
    private final @Nullable Timer acquired;

    private final @Nullable Timer refused;
    private final @Nullable LongTaskTimer queueing;

    private final Timer held;
    private final LongTaskTimer holding;
    private final Counter extended;
    private final Counter released;
    private final AtomicLong active;
    private final AtomicLong waiting;
    private final AtomicLong leaked;
    private final AtomicLong fence;
    private final AtomicLong lastGrant;
    private final AtomicLong lastEnd;

    /** Guarded by this. Most names have no permits. */
    private @Nullable PermitGauges permits;

    MeterGroup(MeterRegistry registry, Id id) {
        this.registry = registry;
        this.tags = Tags.of("name", id.name, "mode", id.mode.name().toLowerCase(Locale.ROOT), "backend", id.backend);
        boolean timed = !isElection(id.name);
        this.acquired = timed ? acquire("acquired", NO_ERROR) : null;
        this.refused = timed ? acquire("refused", NO_ERROR) : null;
        this.queueing = timed
                ? LongTaskTimer.builder("syncguard.lock.queueing")
                        .description("Time since the callers that wait now got their queue entries")
                        .tags(tags)
                        .register(registry)
                : null;
        this.held = Timer.builder("syncguard.lock.held")
                .description("Time from the grant of a lock to its end")
                .tags(tags)
                .register(registry);
        this.holding = LongTaskTimer.builder("syncguard.lock.holding")
                .description("Time since the grant of the locks that are held now")
                .tags(tags)
                .register(registry);
        this.extended = extend("extended", NO_ERROR);
        this.released = release("released", NO_ERROR);
        // A counter that appears with its first event shows no increase.
        LOSSES.forEach(this::lost);
        this.active = gauge("active", "Locks that are held now");
        this.waiting = gauge("waiting", "Callers of this process that wait for a lock now");
        this.leaked = gauge("leaked", "Locks that are held now and that the leak detection has reported");
        this.fence = gauge("fence", "Largest fence that this process was granted");
        this.lastGrant = timeOf("grant", "When this process was last granted such a lock, in seconds since 1970");
        this.lastEnd = timeOf("end", "When such a lock of this process last ended, in seconds since 1970");
    }

    /** Creates the gauges of the permits, with this limit. */
    void limit(int permits) {
        permits().limit(permits);
    }

    LongTaskTimer holding() {
        return holding;
    }

    /** {@code null} for an election. */
    @Nullable
    LongTaskTimer queueing() {
        return queueing;
    }

    void waitStarted(LockEvent event) {
        waiting.incrementAndGet();
        permits(event, PermitGauges::waitStarted);
    }

    void waitEnded(LockEvent event) {
        waiting.decrementAndGet();
        permits(event, PermitGauges::waitEnded);
    }

    void acquired(LockEvent event) {
        record(acquired, event);
        active.incrementAndGet();
        permits(event, PermitGauges::acquired);
        raiseFence(event);
        lastGrant.set(registry.config().clock().wallTime());
    }

    void leakReported() {
        leaked.incrementAndGet();
    }

    void leakEnded() {
        leaked.decrementAndGet();
    }

    void refused(LockEvent event) {
        record(refused, event);
    }

    void extended(LockEvent event) {
        extended.increment();
        raiseFence(event);
    }

    void released(LockEvent event) {
        released.increment();
        ended(event);
    }

    void lost(LockEvent event) {
        lost(Objects.requireNonNullElse(event.reason(), LockReason.NOT_FOUND)).increment();
        ended(event);
    }

    /** Creates the meter for an error with its first occurrence. Created in advance, there would be thousands. */
    void failed(LockEvent event, LockOperation operation, LockErrorCode code) {
        String error = code.name().toLowerCase(Locale.ROOT);
        switch (operation) {
            case ACQUIRE -> acquire("failed", error).record(event.elapsed());
            case EXTEND -> extend("failed", error).increment();
            case RELEASE -> release("failed", error).increment();
        }
    }

    private static void record(@Nullable Timer timer, LockEvent event) {
        if (timer != null) {
            timer.record(event.elapsed());
        }
    }

    private void ended(LockEvent event) {
        held.record(event.elapsed());
        lastEnd.set(registry.config().clock().wallTime());
        active.decrementAndGet();
        permits(event, PermitGauges::ended);
    }

    private void permits(LockEvent event, Consumer<PermitGauges> change) {
        if (event.permits() > 0) {
            PermitGauges gauges = permits();
            gauges.limit(event.permits());
            change.accept(gauges);
        }
    }

    private synchronized PermitGauges permits() {
        PermitGauges known = permits;
        if (known == null) {
            known = new PermitGauges(registry, tags);
            permits = known;
        }
        return known;
    }

    private void raiseFence(LockEvent event) {
        if (event.fence() != null) {
            fence.accumulateAndGet(event.fence().value(), Math::max);
        }
    }

    private static boolean isElection(String name) {
        return name.startsWith(LockLimits.ELECTION_PREFIX);
    }

    private Timer acquire(String outcome, String error) {
        return Timer.builder("syncguard.lock.acquire")
                .description("Time to acquire a lock")
                .tags(tags.and("outcome", outcome, "error", error))
                .register(registry);
    }

    private Counter extend(String outcome, String error) {
        return Counter.builder("syncguard.lock.extend")
                .description("Extensions of leases")
                .tags(tags.and("outcome", outcome, "error", error))
                .register(registry);
    }

    private Counter release(String outcome, String error) {
        return Counter.builder("syncguard.lock.release")
                .description("Releases of locks")
                .tags(tags.and("outcome", outcome, "error", error))
                .register(registry);
    }

    private Counter lost(LockReason reason) {
        return Counter.builder("syncguard.lock.lost")
                .description("Locks that were lost while they were held")
                .tags(tags.and("reason", reason.name().toLowerCase(Locale.ROOT)))
                .register(registry);
    }

    /** Zero before the first time. */
    private AtomicLong timeOf(String event, String description) {
        AtomicLong millis = new AtomicLong();
        TimeGauge.builder("syncguard.lock.last." + event, millis, TimeUnit.MILLISECONDS, AtomicLong::get)
                .description(description)
                .tags(tags)
                .register(registry);
        return millis;
    }

    private AtomicLong gauge(String meter, String description) {
        AtomicLong value = new AtomicLong();
        Gauge.builder("syncguard.lock." + meter, value, AtomicLong::get)
                .description(description)
                .tags(tags)
                .register(registry);
        return value;
    }

    /** The tags of all meters of a group. */
    record Id(String name, LockMode mode, String backend) {}
}
