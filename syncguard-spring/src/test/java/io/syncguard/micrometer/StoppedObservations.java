package io.syncguard.micrometer;

import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationView;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Records observations in the order of their ends. */
final class StoppedObservations implements ObservationHandler<Observation.Context> {

    /** The contexts of lock observations. */
    final List<LockObservationContext> contexts = new CopyOnWriteArrayList<>();

    final List<String> events = new CopyOnWriteArrayList<>();

    /** The threads that ended the observations. */
    final Map<Observation.Context, String> threads = new ConcurrentHashMap<>();

    /** The name of each observation, with that of its parent. */
    final Map<String, String> parents = new ConcurrentHashMap<>();

    @Override
    public boolean supportsContext(Observation.Context context) {
        return true;
    }

    @Override
    public void onEvent(Observation.Event event, Observation.Context context) {
        events.add(event.getName());
    }

    @Override
    public void onStop(Observation.Context context) {
        threads.put(context, Thread.currentThread().getName());
        ObservationView parent = context.getParentObservation();
        parents.put(
                context.getName(),
                parent == null ? "none" : parent.getContextView().getName());
        if (context instanceof LockObservationContext lock) {
            contexts.add(lock);
        }
    }

    /** The operations, such as {@code acquire}. */
    List<String> names() {
        return contexts.stream().map(each -> each.observation().operation()).toList();
    }

    LockObservationContext of(String operation) {
        return contexts.stream()
                .filter(each -> each.observation().operation().equals(operation))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no " + operation + " among " + names()));
    }

    String parentOf(String operation) {
        return parents.get("syncguard.lock." + operation);
    }

    String low(String operation, String key) {
        return of(operation).getLowCardinalityKeyValue(key).getValue();
    }

    @Nullable
    String high(String operation, String key) {
        KeyValue value = of(operation).getHighCardinalityKeyValue(key);
        return value == null ? null : value.getValue();
    }
}
