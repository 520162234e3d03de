package io.syncguard.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationView;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.handler.TracingObservationHandler.TracingContext;
import org.jspecify.annotations.Nullable;

/** The ids of traces, where the application has Micrometer Tracing. */
final class TraceIds {

    private TraceIds() {}

    /** The id of the trace of an observation; {@code null} if it is in none. */
    static @Nullable String of(Observation.ContextView context) {
        try {
            return OfTracing.find(context);
        } catch (NoClassDefFoundError ex) {
            // Observations do not need the library.
            return null;
        }
    }

    /** Loaded on the first use alone. */
    private static final class OfTracing {

        private static @Nullable String find(Observation.ContextView context) {
            TracingContext tracing = context.get(TracingContext.class);
            Span span = tracing == null ? null : tracing.getSpan();
            if (span != null) {
                return span.context().traceId();
            }
            ObservationView parent = context.getParentObservation();
            return parent == null ? null : find(parent.getContextView());
        }
    }
}
