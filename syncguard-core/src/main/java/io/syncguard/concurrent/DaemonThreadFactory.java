package io.syncguard.concurrent;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Makes the threads of the library: daemons with a name, not yet started. They have the group and the context class
 * loader of the thread that makes this factory, not those of the caller who needs a thread first. Thread-safe.
 */
public final class DaemonThreadFactory implements ThreadFactory {

    private final Supplier<String> names;
    private final ThreadFactory maker;

    private DaemonThreadFactory(Supplier<String> names, ThreadFactory maker) {
        this.names = names;
        this.maker = maker;
    }

    /** All threads have this name. */
    public static DaemonThreadFactory named(String name) {
        return named(name, likeThisThread());
    }

    /**
     * All threads have this name.
     *
     * @param maker makes the threads; that of a test may fail
     */
    public static DaemonThreadFactory named(String name, ThreadFactory maker) {
        return new DaemonThreadFactory(() -> name, maker);
    }

    /** The names are {@code name-1}, {@code name-2} and so on. */
    public static DaemonThreadFactory numbered(String name) {
        return numbered(name, likeThisThread());
    }

    /**
     * The names are {@code name-1}, {@code name-2} and so on.
     *
     * @param maker makes the threads; that of a test may fail
     */
    public static DaemonThreadFactory numbered(String name, ThreadFactory maker) {
        AtomicInteger made = new AtomicInteger();
        return new DaemonThreadFactory(() -> name + "-" + made.incrementAndGet(), maker);
    }

    private static ThreadFactory likeThisThread() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        return work -> {
            // A tenant or a user that the caller's thread would pass on has nothing to do with the work of the library.
            Thread thread = new Thread(group, work, "syncguard", 0, false);
            thread.setContextClassLoader(loader);
            return thread;
        };
    }

    @Override
    public Thread newThread(Runnable work) {
        Thread thread = maker.newThread(work);
        thread.setName(names.get());
        thread.setDaemon(true);
        // The thread would inherit the priority of the caller who needs it first.
        thread.setPriority(Thread.NORM_PRIORITY);
        return thread;
    }
}
