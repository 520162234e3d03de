package io.syncguard.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationView;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.handler.TracingObservationHandler.TracingContext;
import org.jspecify.annotations.Nullable;

/** Reads the ids of traces, if the application has Micrometer Tracing. */
final class TraceIds {

    private TraceIds() {}

    /** Returns the id of the trace of an observation; {@code null} if there is no trace. */
    static @Nullable String of(Observation.ContextView context) {
        try {
            return OfTracing.find(context);
        } catch (NoClassDefFoundError ex) {
            // The library is optional.
            return null;
        }
    }

    /** Loaded only at the first use, because it needs the library. */
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
