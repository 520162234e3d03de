package io.syncguard.micrometer;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.concurrent.atomic.AtomicLong;

/** The permits of one name: how many this process holds, and how many of its callers wait for one. Thread-safe. */
final class PermitGauges {

    private final AtomicLong inUse;
    private final AtomicLong waiting;

    PermitGauges(MeterRegistry registry, Tags tags) {
        this.inUse = gauge(registry, tags.and("state", "in_use"));
        this.waiting = gauge(registry, tags.and("state", "waiting"));
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
