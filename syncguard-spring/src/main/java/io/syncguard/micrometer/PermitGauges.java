package io.syncguard.micrometer;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The permits of one name: how many this process holds, how many of its callers wait for one, and the limit of a key.
 * Thread-safe.
 */
final class PermitGauges {

    private final AtomicLong inUse;
    private final AtomicLong waiting;
    private final AtomicLong limit = new AtomicLong();

    PermitGauges(MeterRegistry registry, Tags tags) {
        this.inUse = gauge(registry, tags.and("state", "in_use"));
        this.waiting = gauge(registry, tags.and("state", "waiting"));
        Gauge.builder("syncguard.lock.permit.limit", limit, AtomicLong::get)
                .description("How many permits all processes together may hold of a key")
                .tags(tags)
                .register(registry);
    }

    /** The number of permits in the last request. */
    void limit(int permits) {
        limit.set(permits);
    }

    void waitStarted() {
        waiting.incrementAndGet();
    }

    void waitEnded() {
        waiting.decrementAndGet();
    }

    void acquired() {
        inUse.incrementAndGet();
    }

    void ended() {
        inUse.decrementAndGet();
    }

    private static AtomicLong gauge(MeterRegistry registry, Tags tags) {
        AtomicLong value = new AtomicLong();
        Gauge.builder("syncguard.lock.permits", value, AtomicLong::get)
                .description("Permits that this process holds, and its callers that wait for one")
                .tags(tags)
                .register(registry);
        return value;
    }
}
