package io.syncguard.boot3;

import io.syncguard.actuate.LockHealth;
import org.springframework.boot.actuate.health.AbstractHealthIndicator;
import org.springframework.boot.actuate.health.Health;

/**
 * The health of the locks in Spring Boot 3: {@code DOWN} if a store does not answer, {@link LockHealth#DEGRADED} if it
 * answers and heartbeats fail or wake-ups do not arrive, {@code UP} otherwise.
 */
final class Boot3LockHealthIndicator extends AbstractHealthIndicator {

    private final LockHealth locks;

    Boot3LockHealthIndicator(LockHealth locks) {
        super(LockHealth.FAILED);
        this.locks = locks;
    }

    @Override
    protected void doHealthCheck(Health.Builder health) {
        health.up();
        if (locks.isDegraded(health::withDetail)) {
            health.status(LockHealth.DEGRADED);
        }
    }
}
