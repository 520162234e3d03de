package io.syncguard.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.syncguard.leader.LeaderElectedEvent;
import io.syncguard.leader.LeaderFenceRotatedEvent;
import io.syncguard.leader.LeaderListener;
import io.syncguard.leader.LeaderMember;
import io.syncguard.leader.LeaderRevocation;
import io.syncguard.leader.LeaderRevokedEvent;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Counts elections and shows who leads, under {@code syncguard.leader}. Thread-safe.
 *
 * <p>Every meter has the tag {@code name}, the name of the election. The lock {@code leader:<name>} has the meters of a
 * lock, too.
 */
public final class LeaderMeters implements LeaderListener {

    private final MeterRegistry registry;

    /** The elections with meters. A member that has left may join again, and has its gauge already. */
    private final Set<String> known = ConcurrentHashMap.newKeySet();

    public LeaderMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void joined(LeaderMember member) {
        if (!known.add(member.name())) {
            return;
        }
        Gauge.builder("syncguard.leader.active", member, each -> each.isLeader() ? 1 : 0)
                .description("Whether this process leads now")
                .tag("name", member.name())
                .register(registry);
        // All counters start at zero: a counter that appears with its first event shows no increase.
        counter("syncguard.leader.elected", "Elections of this process", member.name());
        counter("syncguard.leader.rotated", "New fences within a term", member.name());
        for (LeaderRevocation reason : LeaderRevocation.values()) {
            revoked(member.name(), reason);
        }
    }

    @Override
    public void elected(LeaderElectedEvent event) {
        counter("syncguard.leader.elected", "Elections of this process", event.name())
                .increment();
    }

    @Override
    public void fenceRotated(LeaderFenceRotatedEvent event) {
        counter("syncguard.leader.rotated", "New fences within a term", event.name())
                .increment();
    }

    @Override
    public void revoked(LeaderRevokedEvent event) {
        revoked(event.name(), event.reason()).increment();
    }

    private Counter counter(String meter, String description, String election) {
        return Counter.builder(meter)
                .description(description)
                .tag("name", election)
                .register(registry);
    }

    private Counter revoked(String election, LeaderRevocation reason) {
        return Counter.builder("syncguard.leader.revoked")
                .description("Ends of leadership of this process")
                .tag("name", election)
                .tag("reason", reason.name().toLowerCase(Locale.ROOT))
                .register(registry);
    }
}
