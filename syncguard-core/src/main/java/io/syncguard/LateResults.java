package io.syncguard;

import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Results whose work goes on, or has not begun, when the code that returned them has ended: futures, streams,
 * publishers, iterators, code that is still to be called, whatever can be closed, and data that is still to be read or
 * written, such as an {@code InputStream}; and executions of Spring Batch that still run. A lock that is released then
 * does not protect that work. What has its data in memory is not late: a {@code ByteArrayInputStream}, for instance.
 * Thread-safe.
 */
public final class LateResults {

    private LateResults() {}

    /** Whether results of this type are late. */
    public static boolean isLate(Class<?> type) {
        return LateTypes.contains(type);
    }

    /**
     * Refuses a result that is late, or a record, or a collection, map, array, reference or {@code Optional} of the
     * JDK, with a late result among its first 10 000 parts and at most eight containers deep. Cancels what it refuses,
     * or closes it unless others may share it: nobody else will.
     *
     * @param returner what returned the value, for the message
     * @throws LockException with {@link LockErrorCode#INVALID_ARGUMENT}
     */
    public static void refuseIn(@Nullable Object value, String returner) {
        refuseIn(value, () -> returner);
    }

    static void refuseIn(@Nullable Object value, Supplier<String> returner) {
        List<Object> late = new LateSearch().in(value);
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
                            + " possible; what was done before it was returned stays. "
                            + LateTypes.advice(late.get(0).getClass()));
        }
    }

    static boolean isDone(Object late) {
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
            } else if (late instanceof AutoCloseable closeable && LateTypes.isClosedWhenRefused(late.getClass())) {
                closeable.close();
            }
        } catch (Exception ex) {
            // The refusal says that it may go on.
        }
    }
}
