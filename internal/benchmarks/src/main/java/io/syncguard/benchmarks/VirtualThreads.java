package io.syncguard.benchmarks;

import java.lang.reflect.Method;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** The virtual threads of Java 21 and later. Uses reflection, because this module is compiled for Java 17. */
final class VirtualThreads {

    private static final @Nullable Method NEW_EXECUTOR = newExecutor();

    private VirtualThreads() {}

    static boolean areThere() {
        return NEW_EXECUTOR != null;
    }

    /** Returns an executor that starts a virtual thread for each task. */
    static ExecutorService executor() {
        if (NEW_EXECUTOR == null) {
            throw new IllegalStateException("Java " + Runtime.version().feature() + " has no virtual threads");
        }
        try {
            return (ExecutorService) NEW_EXECUTOR.invoke(null);
        } catch (ReflectiveOperationException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static @Nullable Method newExecutor() {
        try {
            // In Java 19 and 20 the method needs --enable-preview.
            return Runtime.version().feature() < 21
                    ? null
                    : Executors.class.getMethod("newVirtualThreadPerTaskExecutor");
        } catch (NoSuchMethodException ex) {
            return null;
        }
    }
}
