package io.syncguard.concurrent;

import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Runs code whose failure must not harm a lock: messages, listeners, callbacks. It catches every {@link Throwable}: an
 * {@link Error}, so that leases are extended and released also without memory or threads, and a checked exception,
 * which Kotlin and other languages throw from any method.
 */
public final class Shielded {

    private static final Log log = LogFactory.getLog(Shielded.class);

    private Shielded() {}

    /**
     * Runs the work, and logs what it throws as a warning with this message.
     *
     * <p>No interrupt is lost in it: a flag that was set before is set afterwards, and an {@link InterruptedException}
     * that it throws sets the flag.
     */
    public static void run(Runnable work, Log log, Supplier<String> message) {
        run(work, ex -> log.warn(message.get(), ex));
    }

    /** Runs the work, and passes what it throws to the handler. No interrupt is lost in it. */
    public static void run(Runnable work, Consumer<Throwable> handler) {
        boolean interrupted = Thread.currentThread().isInterrupted();
        try {
            work.run();
        } catch (Throwable ex) {
            interrupted |= ex instanceof InterruptedException;
            log(() -> handler.accept(ex));
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Runs work that has to be done whatever interrupts its thread. A flag that was set before is set afterwards. */
    public static void uninterrupted(Runnable work) {
        boolean interrupted = Thread.interrupted();
        try {
            work.run();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Closes all of them, also those after one that fails. */
    public static void closeAll(AutoCloseable... parts) {
        for (AutoCloseable part : parts) {
            run(() -> close(part), log, () -> "A part of the locks could not be closed; the others are");
        }
    }

    /** Logs, and ignores a failure: there may be no memory for it. */
    public static void log(Runnable logging) {
        try {
            logging.run();
        } catch (Throwable ex) {
            // It cannot be reported either.
        }
    }

    private static void close(AutoCloseable part) {
        try {
            part.close();
        } catch (Exception ex) {
            throw unchecked(ex);
        }
    }

    /** Throws a checked exception without a wrapper: only the compiler distinguishes the two kinds. */
    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E unchecked(Throwable failure) throws E {
        throw (E) failure;
    }
}
