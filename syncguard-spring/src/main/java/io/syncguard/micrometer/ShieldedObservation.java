package io.syncguard.micrometer;

import io.micrometer.observation.Observation;
import io.syncguard.concurrent.Shielded;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** An observation whose handlers and convention cannot harm a lock: their exceptions are logged. Thread-safe. */
final class ShieldedObservation {

    private static final Log log = LogFactory.getLog(ShieldedObservation.class);

    private final Observation observation;

    private ShieldedObservation(Observation observation) {
        this.observation = observation;
    }

    static ShieldedObservation start(Supplier<Observation> start) {
        try {
            return new ShieldedObservation(start.get());
        } catch (Throwable ex) {
            warn(ex);
            return new ShieldedObservation(Observation.NOOP);
        }
    }

    Observation observation() {
        return observation;
    }

    /** An observation that a predicate has disabled must not hide the current one. */
    Observation.Scope openScope() {
        try {
            return observation.isNoop() ? Observation.Scope.NOOP : observation.openScope();
        } catch (Throwable ex) {
            warn(ex);
            return Observation.Scope.NOOP;
        }
    }

    void close(Observation.Scope scope) {
        run(scope::close);
    }

    void error(Throwable error) {
        run(() -> observation.error(error));
    }

    void event(Observation.Event event) {
        run(() -> observation.event(event));
    }

    void stop() {
        run(observation::stop);
    }

    private static void run(Runnable work) {
        Shielded.run(work, ShieldedObservation::warn);
    }

    private static void warn(Throwable failure) {
        Shielded.log(() -> log.warn("A lock observation failed, which changes nothing for the lock", failure));
    }
}
