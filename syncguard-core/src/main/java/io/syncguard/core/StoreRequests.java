package io.syncguard.core;

import io.syncguard.LockErrorCode;
import io.syncguard.concurrent.Chain;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** How many requests this process has sent to a store, how long they took, and how they ended. Thread-safe. */
public final class StoreRequests {

    private static final int ENDS = LockErrorCode.values().length + 1;

    private final LongAdder[] numbers = adders();
    private final LongAdder[] nanos = adders();

    /** @param error how they ended; {@code null} for those that were answered */
    public long number(StoreOperation operation, @Nullable LockErrorCode error) {
        return numbers[index(operation, error)].sum();
    }

    /** How long these took together, in nanoseconds. */
    public long nanos(StoreOperation operation, @Nullable LockErrorCode error) {
        return nanos[index(operation, error)].sum();
    }

    void ended(StoreOperation operation, long duration, @Nullable Throwable failure) {
        int index = index(operation, failure == null ? null : codeOf(failure));
        numbers[index].increment();
        nanos[index].add(duration);
    }

    /** A caller that gives up cancels its request, which says nothing about the store. */
    private static LockErrorCode codeOf(Throwable failure) {
        return Chain.causes(failure).anyMatch(CancellationException.class::isInstance)
                ? LockErrorCode.ABORTED
                : BackendFailure.of("The request failed", failure).code();
    }

    private static int index(StoreOperation operation, @Nullable LockErrorCode error) {
        return operation.ordinal() * ENDS + (error == null ? 0 : error.ordinal() + 1);
    }

    private static LongAdder[] adders() {
        LongAdder[] adders = new LongAdder[StoreOperation.values().length * ENDS];
        for (int i = 0; i < adders.length; i++) {
            adders[i] = new LongAdder();
        }
        return adders;
    }
}
