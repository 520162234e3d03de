package io.syncguard;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.Spliterator;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.BaseStream;
import org.jspecify.annotations.Nullable;

/**
 * Results whose work goes on, or has not begun, when the code that returned them has ended: futures, streams,
 * publishers, iterators, code that is still to be called. A lock that is released then does not protect that work.
 * Thread-safe.
 */
public final class LateResults {

    /** Types of libraries that may be missing. */
    private static final Set<String> BY_NAME = Set.of(
            "org.reactivestreams.Publisher",
            "kotlin.Function",
            "kotlin.Lazy",
            "kotlin.sequences.Sequence",
            "kotlinx.coroutines.Job",
            "kotlinx.coroutines.flow.Flow",
            "org.springframework.web.context.request.async.DeferredResult",
            "org.springframework.web.context.request.async.WebAsyncTask",
            "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
            "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

    private static final List<Class<?>> LATE_TYPES = List.of(
            Future.class,
            CompletionStage.class,
            Flow.Publisher.class,
            BaseStream.class,
            Iterator.class,
            Spliterator.class,
            Enumeration.class,
            Callable.class);

    private static final ClassValue<Boolean> LATE = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return LATE_TYPES.stream().anyMatch(late -> late.isAssignableFrom(type))
                    || isLazyIterable(type)
                    || isFunction(type)
                    || isNamed(type);
        }
    };

    /** The depth to which containers are searched, and the number of elements of each. */
    private static final int DEPTH = 3;

    private static final int ELEMENTS = 100;

    private LateResults() {}

    /** Whether results of this type are late. */
    public static boolean isLate(Class<?> type) {
        return LATE.get(type);
    }

    /**
     * Refuses a result that is late, or a collection, map, array or {@code Optional} of the JDK with a late result
     * among its first elements. Cancels or closes what it refuses, if that is possible: nobody else will.
     *
     * @param returner what returned the value, for the message
     * @throws LockException with {@link LockErrorCode#INVALID_ARGUMENT}
     */
    public static void refuseIn(@Nullable Object value, String returner) {
        refuseIn(value, () -> returner);
    }

    static void refuseIn(@Nullable Object value, Supplier<String> returner) {
        List<Object> late = new ArrayList<>(0);
        find(value, DEPTH, late);
        if (value != null && !late.isEmpty()) {
            late.forEach(LateResults::abandon);
            String name = late.get(0).getClass().getName();
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    returner.get() + " returned a " + name
                            + (late.get(0) == value
                                    ? ""
                                    : " within a " + value.getClass().getName())
                            + ", whose work would go on without the lock. It was cancelled or closed if that is"
                            + " possible; what was done before it was returned stays. Return the result itself, or a"
                            + " CompletableFuture from a method with @DistributedLock");
        }
    }

    private static void find(@Nullable Object value, int depth, List<Object> late) {
        if (value == null || depth == 0) {
            return;
        }
        if (isLate(value.getClass())) {
            if (!isDone(value)) {
                late.add(value);
            }
        } else if (value instanceof Optional<?> optional) {
            find(optional.orElse(null), depth - 1, late);
        } else if (value instanceof Object[] values) {
            Arrays.stream(values).limit(ELEMENTS).forEach(each -> find(each, depth - 1, late));
        } else if (value instanceof Collection<?> values && isOfJdk(value)) {
            findAmong(values, depth, late);
        } else if (value instanceof Map<?, ?> map && isOfJdk(value)) {
            findAmong(map.values(), depth, late);
        }
    }

    private static void findAmong(Collection<?> values, int depth, List<Object> late) {
        try {
            values.stream().limit(ELEMENTS).forEach(each -> find(each, depth - 1, late));
        } catch (RuntimeException ex) {
            // The caller who reads it meets the same failure, or another thread changes it.
        }
    }

    /** Reading any other collection may have an effect: a collection of Hibernate queries the database. */
    private static boolean isOfJdk(Object container) {
        return container.getClass().getClassLoader() == null;
    }

    private static boolean isDone(Object late) {
        try {
            // First as a stage: a CompletableFuture.completedStage is a future, too, but does not say whether it is
            // done.
            return late instanceof CompletionStage<?> stage
                    ? stage.toCompletableFuture().isDone()
                    : late instanceof Future<?> future && future.isDone();
        } catch (RuntimeException ex) {
            return false;
        }
    }

    private static void abandon(Object late) {
        try {
            if (late instanceof Future<?> future) {
                future.cancel(true);
            } else if (late instanceof CompletionStage<?> stage) {
                stage.toCompletableFuture().cancel(true);
            } else if (late instanceof AutoCloseable closeable) {
                closeable.close();
            }
        } catch (Exception ex) {
            // The refusal says that it may go on.
        }
    }

    /** A database cursor, for instance. Not a collection that can be closed: it has its elements already. */
    private static boolean isLazyIterable(Class<?> type) {
        return Iterable.class.isAssignableFrom(type)
                && !Collection.class.isAssignableFrom(type)
                && (AutoCloseable.class.isAssignableFrom(type) || isWithoutName(type));
    }

    /** A class with a name may be a value and a supplier: a page of Spring Data is one of its elements. */
    private static boolean isFunction(Class<?> type) {
        return (type.isInterface() || isWithoutName(type))
                && !Iterable.class.isAssignableFrom(type)
                && supertypes(type).stream()
                        .anyMatch(each -> each.getPackageName().equals("java.util.function")
                                && each.getSimpleName().matches(".*(Supplier|Function|Operator)"));
    }

    /** Whether it is the class of a lambda, or anonymous. */
    private static boolean isWithoutName(Class<?> type) {
        return type.isHidden() || type.isSynthetic() || type.isAnonymousClass();
    }

    private static boolean isNamed(Class<?> type) {
        return supertypes(type).stream().anyMatch(each -> BY_NAME.contains(each.getName()));
    }

    /** The type itself and all its supertypes. */
    private static List<Class<?>> supertypes(Class<?> type) {
        List<Class<?>> all = new ArrayList<>(List.of(type));
        for (int i = 0; i < all.size(); i++) {
            Class<?> each = all.get(i);
            all.addAll(List.of(each.getInterfaces()));
            if (each.getSuperclass() != null) {
                all.add(each.getSuperclass());
            }
        }
        return all;
    }
}
