package io.syncguard.benchmarks;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.LockObserver;
import io.syncguard.core.TransactionBoundary;
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
    private final LockTemplate noHandlers = locks(new LockObservations(ObservationRegistry.create()));
    private final LockTemplate oneHandler = locks(new LockObservations(with(new NoHandling())));
    private final ObservationRegistry all = with(tracing(Sampler.alwaysOn()));
    private final ObservationRegistry none = with(tracing(Sampler.alwaysOff()));
    private final LockTemplate sampled = locks(new LockObservations(all));
    private final LockTemplate notSampled = locks(new LockObservations(none));
    private final Observation sampledRequest = Observation.start("request", all);
    private final Observation otherRequest = Observation.start("request", none);

    @TearDown
    public void stop() {
        sampledRequest.stop();
        otherRequest.stop();
        engines.forEach(LockEngine::close);
    }

    @Benchmark
    public String noObserver() {
        return lock(noObserver);
    }

    @Benchmark
    public String noHandlers() {
        return lock(noHandlers);
    }

    @Benchmark
    public String oneHandler() {
        return lock(oneHandler);
    }

    @Benchmark
    public String requestThatIsSampled() {
        return lockIn(sampledRequest, sampled);
    }

    @Benchmark
    public String requestThatIsNotSampled() {
        return lockIn(otherRequest, notSampled);
    }

    /** The lock begins a trace of its own. */
    @Benchmark
    public String traceThatIsNotSampled() {
        return lock(notSampled);
    }

    private static String lockIn(Observation request, LockTemplate locks) {
        try (Observation.Scope scope = request.openScope()) {
            assert scope.getCurrentObservation() == request;
            return lock(locks);
        }
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

    private static ObservationHandler<?> tracing(Sampler sampler) {
        SdkTracerProvider provider =
                SdkTracerProvider.builder().setSampler(sampler).build();
        return new DefaultTracingObservationHandler(
                new OtelTracer(provider.get("benchmark"), new OtelCurrentTraceContext(), event -> {}));
    }

    /** Receives all observations and does nothing. */
    private static final class NoHandling implements ObservationHandler<Observation.Context> {

        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }
    }
}
