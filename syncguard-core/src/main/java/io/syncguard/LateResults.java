package io.syncguard;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Results whose work goes on, or has not begun, when the code that returned them has ended: futures, streams,
 * publishers, iterators, code that is still to be called, and data that is still to be read or written, such as an
 * {@code InputStream}. A lock that is released then does not protect that work. What has its data in memory is not
 * late: a {@code ByteArrayInputStream}, for instance. Thread-safe.
 */
public final class LateResults {

    /** The depth to which containers are searched, and the number of elements of each. */
    private static final int DEPTH = 3;

    private static final int ELEMENTS = 100;

    private LateResults() {}

    /** Whether results of this type are late. */
    public static boolean isLate(Class<?> type) {
        return LateTypes.contains(type);
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
                            + " possible; what was done before it was returned stays. Return the result itself, such as"
                            + " a List or byte[], or a CompletableFuture from a method with @DistributedLock");
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
}
