package io.syncguard;

import org.jspecify.annotations.Nullable;

/** What each thread works under, without knowing what that is: {@link CurrentLocks} keeps handles here. */
final class RunningFrames {

    /** Read and written by the owning thread only; never left behind, so that pooled threads stay clean. */
    private static final ThreadLocal<@Nullable Frame> INNERMOST = new ThreadLocal<>();

    private RunningFrames() {}

    record Frame(Object content, @Nullable Frame outer) {}

    static @Nullable Frame innermost() {
        return INNERMOST.get();
    }

    static void enter(Object content) {
        INNERMOST.set(new Frame(content, INNERMOST.get()));
    }

    /** Goes back to where the thread was before; {@code null} for the outside of all. */
    static void restore(@Nullable Frame outer) {
        if (outer == null) {
            INNERMOST.remove();
        } else {
            INNERMOST.set(outer);
        }
    }
}
