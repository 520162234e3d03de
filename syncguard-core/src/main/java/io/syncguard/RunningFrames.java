package io.syncguard;

import org.jspecify.annotations.Nullable;

/** A stack of frames for each thread. It does not know their content: {@link CurrentLocks} keeps handles here. */
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

    /** Makes an earlier frame the innermost one again; {@code null} for none. */
    static void restore(@Nullable Frame outer) {
        if (outer == null) {
            INNERMOST.remove();
        } else {
            INNERMOST.set(outer);
        }
    }
}
