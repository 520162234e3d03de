package io.syncguard.autoconfigure;

import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.syncguard.testing.SortedAutoConfigurations;
import java.util.List;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.micrometer.tracing.autoconfigure.MicrometerTracingAutoConfiguration;
import org.springframework.boot.reactor.autoconfigure.ReactorAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Applications with meters and traces by OpenTelemetry, and the spans that they have ended. */
final class Traces {

    private Traces() {}

    static ApplicationContextRunner metered(String database) {
        return Applications.on(database)
                .withConfiguration(SortedAutoConfigurations.of(
                        MetricsAutoConfiguration.class,
                        CompositeMeterRegistryAutoConfiguration.class,
                        SimpleMetricsExportAutoConfiguration.class));
    }

    static ApplicationContextRunner of(String database) {
        return of(database, 1);
    }

    /** @param sampled which part of the traces are recorded */
    static ApplicationContextRunner of(String database, double sampled) {
        return metered(database)
                .withConfiguration(SortedAutoConfigurations.of(
                        ObservationAutoConfiguration.class,
                        MicrometerTracingAutoConfiguration.class,
                        ReactorAutoConfiguration.class))
                .withBean(Sampler.class, () -> Sampler.parentBased(Sampler.traceIdRatioBased(sampled)))
                .withUserConfiguration(Tracing.class);
    }

    static ObservationRegistry registry(ApplicationContext application) {
        return application.getBean(ObservationRegistry.class);
    }

    static List<SpanData> spans(ApplicationContext application) {
        return application.getBean(InMemorySpanExporter.class).getFinishedSpanItems();
    }

    static SpanData span(ApplicationContext application, String name) {
        return spans(application).stream()
                .filter(each -> each.getName().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no span " + name + " in " + spans(application)));
    }

    @Configuration(proxyBeanMethods = false)
    static class Tracing {

        @Bean
        InMemorySpanExporter exporter() {
            return InMemorySpanExporter.create();
        }

        @Bean
        Tracer tracer(InMemorySpanExporter exporter, Sampler sampler) {
            SdkTracerProvider provider = SdkTracerProvider.builder()
                    .setSampler(sampler)
                    .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                    .build();
            return new OtelTracer(provider.get("test"), new OtelCurrentTraceContext(), event -> {});
        }
    }
}
