package io.syncguard.concurrent;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Makes the threads of the library: daemons with a name, not yet started. Threads may share it.
 */
public final class DaemonThreadFactory implements ThreadFactory {

    /** Not {@code Thread::new}: Lincheck, which checks interleavings in tests, does not follow such threads. */
    private static final ThreadFactory PLAIN = DaemonThreadFactory::withoutContext;

    private final Supplier<String> names;
    private final ThreadFactory maker;

    private DaemonThreadFactory(Supplier<String> names, ThreadFactory maker) {
        this.names = names;
        this.maker = maker;
    }

    /** All threads have this name. */
    public static DaemonThreadFactory named(String name) {
        return named(name, PLAIN);
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
        AtomicInteger made = new AtomicInteger();
        return new DaemonThreadFactory(() -> name + "-" + made.incrementAndGet(), PLAIN);
    }

    /** A tenant or a user that the caller's thread would pass on has nothing to do with the work of the library. */
    private static Thread withoutContext(Runnable work) {
        Thread thread = new Thread(null, work, "syncguard", 0, false);
        thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
        return thread;
    }

    @Override
    public Thread newThread(Runnable work) {
        Thread thread = maker.newThread(work);
        thread.setName(names.get());
        thread.setDaemon(true);
        // Not that of the caller who needs it first.
        thread.setPriority(Thread.NORM_PRIORITY);
        return thread;
    }
}
