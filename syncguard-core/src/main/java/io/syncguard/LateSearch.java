package io.syncguard;

import java.lang.ref.Reference;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One search for {@link LateResults} in a value and its parts. Bounded, because a result may be large. Not thread-safe.
 */
final class LateSearch {

    /** Maximum number of containers around a late result. */
    private static final int DEPTH = 8;

    private static final int PARTS = 10_000;

    /** Reading the components of a class takes long, and a list may have many records of one class. */
    private static final ClassValue<List<Method>> ACCESSORS = new ClassValue<>() {
        @Override
        protected List<Method> computeValue(Class<?> record) {
            return accessors(record);
        }
    };

    private final List<Object> late = new ArrayList<>(0);

    private int seen;

    /** The late results among the value and its parts. */
    List<Object> in(@Nullable Object value) {
        find(value, DEPTH);
        return late;
    }

    private void find(@Nullable Object value, int depth) {
        if (value == null) {
            return;
        }
        if (LateTypes.isRunning(value)) {
            late.add(value);
        } else if (!LateResults.isLate(value.getClass())) {
            findIn(value, depth);
        } else if (!LateResults.isDone(value)) {
            late.add(value);
        }
    }

    private void findIn(Object container, int depth) {
        try (Stream<@Nullable Object> parts = depth == 0 ? Stream.empty() : parts(container)) {
            parts.takeWhile(each -> seen++ < PARTS).forEach(each -> find(each, depth - 1));
        } catch (RuntimeException ex) {
            // The caller who reads it meets the same failure, or another thread changes it.
        }
    }

    private static Stream<@Nullable Object> parts(Object value) {
        if (value instanceof Optional<?> optional) {
            return Stream.ofNullable(optional.orElse(null));
        }
        if (value instanceof AtomicReference<?> reference) {
            return Stream.ofNullable(reference.get());
        }
        if (value instanceof Reference<?> reference) {
            return Stream.ofNullable(reference.get());
        }
        if (value instanceof Object[] values) {
            return Arrays.stream(values);
        }
        return value instanceof Record record ? functionless(record) : ofJdk(value);
    }

    /** Reading any other collection may have an effect: a collection of Hibernate queries the database. */
    private static Stream<@Nullable Object> ofJdk(Object value) {
        if (value.getClass().getClassLoader() != null) {
            return Stream.empty();
        }
        if (value instanceof Map.Entry<?, ?> entry) {
            return Stream.of(entry.getKey(), entry.getValue());
        }
        Collection<?> values = value instanceof Map<?, ?> map
                ? map.values()
                : value instanceof Collection<?> collection ? collection : List.of();
        return values.stream().map(each -> each);
    }

    /** Functions in a record are not work that has begun. */
    private static Stream<@Nullable Object> functionless(Record record) {
        return ACCESSORS.get(record.getClass()).stream()
                .<@Nullable Object>map(accessor -> valueOf(accessor, record))
                .filter(each -> each != null && !LateTypes.isFunctionOfRecord(each.getClass()));
    }

    private static List<Method> accessors(Class<?> record) {
        try {
            return Stream.of(record.getRecordComponents())
                    .filter(component -> !component.getType().isPrimitive() && component.getType() != String.class)
                    .map(RecordComponent::getAccessor)
                    .filter(Method::trySetAccessible)
                    .toList();
        } catch (Error ex) {
            // A native image knows the components only of records that were registered.
            return List.of();
        }
    }

    private static @Nullable Object valueOf(Method accessor, Record record) {
        try {
            return accessor.invoke(record);
        } catch (ReflectiveOperationException ex) {
            return null;
        }
    }
}
