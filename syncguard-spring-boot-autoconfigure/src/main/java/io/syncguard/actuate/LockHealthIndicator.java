package io.syncguard.actuate;

import io.syncguard.core.LockEngine;
import io.syncguard.core.ProcessStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/**
 * The health of the locks: {@code DOWN} if a store does not answer, {@link #DEGRADED} if it answers and heartbeats fail
 * or wake-ups do not arrive, {@code UP} otherwise. It asks each store with one round trip.
 */
public final class LockHealthIndicator extends AbstractHealthIndicator {

    /** Locks work, but are slower, or are about to be lost. It counts as healthy where it is not mapped. */
    public static final Status DEGRADED = new Status("DEGRADED");

    /** Nobody locks it. */
    private static final String PROBE = "syncguard:health";

    private final Map<String, LockEngine> managers;

    /** @param managers by the names of their beans */
    public LockHealthIndicator(Map<String, LockEngine> managers) {
        super("The store of the locks does not answer");
        this.managers = managers;
    }

    @Override
    protected void doHealthCheck(Health.Builder health) {
        health.up();
        managers.forEach((name, engine) -> {
            ProcessStatus process = engine.diagnostics().process();
            health.withDetail(name, process);
            engine.isLocked(PROBE);
            List<String> problems = problems(process);
            if (!problems.isEmpty()) {
                health.status(DEGRADED).withDetail(name + ".problems", problems);
            }
        });
    }

    private static List<String> problems(ProcessStatus process) {
        List<String> problems = new ArrayList<>();
        if (process.held() > 0 && process.failedHeartbeats() > 0) {
            problems.add(process.failedHeartbeats() + " heartbeats have failed since the last success");
        }
        if (process.waiting() > 0 && !process.wakeUps()) {
            problems.add("wake-ups do not arrive, so waiters poll");
        }
        return problems;
    }
}
