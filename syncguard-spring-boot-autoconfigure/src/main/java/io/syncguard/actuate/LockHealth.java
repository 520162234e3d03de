package io.syncguard.actuate;

import io.syncguard.LockBackendException;
import io.syncguard.core.LockEngine;
import io.syncguard.core.ProcessStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/** The health of the locks, for the health indicators of all generations of Spring Boot. Thread-safe. */
public final class LockHealth {

    /** The code of the status if locks work, but are slow or about to be lost. */
    public static final String DEGRADED = "DEGRADED";

    /** The message if a store fails. */
    public static final String FAILED = "The lock store does not grant locks";

    private final Map<String, LockEngine> managers;

    /** @param managers by the names of their beans */
    public LockHealth(Map<String, LockEngine> managers) {
        this.managers = managers;
    }

    /**
     * Probes all stores at once, and shows each by itself. Throws the exception with which the next lock of the first
     * store that fails would fail.
     *
     * @param details receives the details to show, also of the other stores if one fails
     * @return whether heartbeats fail or wake-ups do not arrive
     */
    public boolean isDegraded(BiConsumer<String, Object> details) {
        boolean degraded = false;
        LockBackendException failure = null;
        managers.values().forEach(engine -> engine.diagnostics().beginCheck());
        for (Map.Entry<String, LockEngine> manager : managers.entrySet()) {
            LockEngine engine = manager.getValue();
            ProcessStatus process = engine.diagnostics().process();
            try {
                engine.diagnostics().checkStore();
            } catch (LockBackendException ex) {
                details.accept(manager.getKey(), process.withoutGrants());
                failure = failure == null ? ex : failure;
                continue;
            }
            details.accept(manager.getKey(), process);
            List<String> problems = problems(process);
            if (!problems.isEmpty()) {
                degraded = true;
                details.accept(manager.getKey() + ".problems", problems);
            }
        }
        if (failure != null) {
            throw failure;
        }
        return degraded;
    }

    private static List<String> problems(ProcessStatus process) {
        List<String> problems = new ArrayList<>();
        if (process.held() > 0 && process.failedHeartbeats() > 0) {
            problems.add(process.failedHeartbeats() + " heartbeats have failed since the last success");
        }
        if (process.waiting() > 0 && Boolean.FALSE.equals(process.wakeUps())) {
            problems.add("wake-ups do not arrive, so waiters poll");
        }
        return problems;
    }
}
