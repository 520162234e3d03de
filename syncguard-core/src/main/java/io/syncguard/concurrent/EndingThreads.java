package io.syncguard.concurrent;

import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The threads that have asked for the end of the application. They do nothing before that end, so nobody waits for
 * them. Thread-safe.
 */
public final class EndingThreads {

    private final @Nullable Thread stopping;

    /** @param stopping the thread that stops the application; {@code null} while none does */
    public EndingThreads(@Nullable Thread stopping) {
        this.stopping = stopping;
    }

    /**
     * Whether the thread stops the application, waits for the end of the thread that does, or {@link #exits}. It may do
     * so later, so ask again.
     */
    public boolean contains(Thread thread) {
        return thread == stopping || exits(thread) || stopping != null && joins(thread, stopping);
    }

    /** Whether the thread has called {@link System#exit}, which blocks until the process ends. */
    public boolean exits(Thread thread) {
        return Stream.of(thread.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals("exit")
                        && frame.getClassName().equals(Runtime.class.getName()));
    }

    /** A virtual thread has no such information. */
    private static boolean joins(Thread thread, Thread other) {
        ThreadInfo info = ManagementFactory.getThreadMXBean().getThreadInfo(thread.getId());
        LockInfo awaited = info == null ? null : info.getLockInfo();
        return awaited != null
                && awaited.getIdentityHashCode() == System.identityHashCode(other)
                && awaited.getClassName().equals(other.getClass().getName());
    }
}
