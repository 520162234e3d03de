package io.syncguard.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationView;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.handler.TracingObservationHandler.TracingContext;
import io.syncguard.concurrent.Chain;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads the traces of observations, if the application has Micrometer Tracing. */
final class TraceIds {

    private TraceIds() {}

    /** Returns the id of the trace of an observation; {@code null} if there is no trace. */
    static @Nullable String of(Observation.ContextView context) {
        try {
            Span span = OfTracing.find(context);
            return span == null ? null : span.context().traceId();
        } catch (NoClassDefFoundError ex) {
            // The library is optional.
            return null;
        }
    }

    /** Whether the trace of an observation is not recorded. False if there is no trace, or it is not known yet. */
    static boolean isLeftOut(Observation.@Nullable ContextView context) {
        try {
            return context != null && OfTracing.isLeftOut(context);
        } catch (NoClassDefFoundError ex) {
            // The library is optional.
            return false;
        }
    }

    /** Loaded only at the first use, because it needs the library. */
    private static final class OfTracing {

        private static @Nullable Span find(Observation.ContextView context) {
            return Chain.of(context, OfTracing::parentOf)
                    .map(OfTracing::spanOf)
                    .filter(Objects::nonNull)
                    .findFirst()
                    .orElse(null);
        }

        private static boolean isLeftOut(Observation.ContextView context) {
            Span span = find(context);
            return span != null && Boolean.FALSE.equals(span.context().sampled());
        }

        private static Observation.@Nullable ContextView parentOf(Observation.ContextView context) {
            ObservationView parent = context.getParentObservation();
            return parent == null ? null : parent.getContextView();
        }

        private static @Nullable Span spanOf(Observation.ContextView context) {
            TracingContext tracing = context.get(TracingContext.class);
            return tracing == null ? null : tracing.getSpan();
        }
    }
}
