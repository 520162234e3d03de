package io.syncguard.actuate;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/**
 * The health of the locks in Spring Boot 4: {@code DOWN} if a store grants no locks, {@link #DEGRADED} if it grants
 * them and heartbeats fail or wake-ups do not arrive, {@code UP} otherwise.
 */
public final class LockHealthIndicator extends AbstractHealthIndicator {

    /** Counts as healthy, unless the application maps the status. */
    public static final Status DEGRADED = new Status(LockHealth.DEGRADED);

    private final LockHealth locks;

    public LockHealthIndicator(LockHealth locks) {
        super(LockHealth.FAILED);
        this.locks = locks;
    }

    @Override
    protected void doHealthCheck(Health.Builder health) {
        health.up();
        if (locks.isDegraded(health::withDetail)) {
            health.status(DEGRADED);
        }
    }
}
