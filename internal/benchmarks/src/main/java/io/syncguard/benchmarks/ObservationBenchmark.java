package io.syncguard.benchmarks;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.LockObserver;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.micrometer.LockMeterObservationHandler;
import io.syncguard.micrometer.LockObservations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** The cost of observations per lock, on a backend that grants at once and does no I/O. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class ObservationBenchmark {

    private final List<LockEngine> engines = new ArrayList<>();
    private final LockTemplate noObserver = locks(LockObserver.NONE);
    private final LockTemplate noOpRegistry = locks(new LockObservations(ObservationRegistry.NOOP));
    private final LockTemplate noHandlers = locks(new LockObservations(ObservationRegistry.create()));
    private final LockTemplate metersOnly = locks(new LockObservations(with(new LockMeterObservationHandler())));
    private final LockTemplate oneHandler = locks(new LockObservations(with(new NoHandling())));

    @TearDown
    public void stop() {
        engines.forEach(LockEngine::close);
    }

    @Benchmark
    public String noObserver() {
        return lock(noObserver);
    }

    @Benchmark
    public String noOpRegistry() {
        return lock(noOpRegistry);
    }

    @Benchmark
    public String noHandlers() {
        return lock(noHandlers);
    }

    @Benchmark
    public String metersOnly() {
        return lock(metersOnly);
    }

    @Benchmark
    public String oneHandler() {
        return lock(oneHandler);
    }

    private static String lock(LockTemplate locks) {
        return locks.execute(LockRequest.of("order:42"), lock -> "done");
    }

    private LockTemplate locks(LockObserver observer) {
        LockEngine engine = new LockEngine(
                new GrantingBackend(),
                new EngineSettings(
                        "benchmark",
                        Duration.ofSeconds(30),
                        Duration.ofSeconds(5),
                        EngineSettings.FIRST_RETRY,
                        EngineSettings.LONGEST_RETRY,
                        Duration.ofSeconds(10),
                        Duration.ZERO,
                        Map.of()),
                TransactionBoundary.NONE,
                List.of(),
                observer);
        engines.add(engine);
        return new LockTemplate(engine);
    }

    private static ObservationRegistry with(ObservationHandler<?> handler) {
        ObservationRegistry registry = ObservationRegistry.create();
        registry.observationConfig().observationHandler(handler);
        return registry;
    }

    /** Receives all observations and does nothing. */
    private static final class NoHandling implements ObservationHandler<Observation.Context> {

        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }
    }
}
