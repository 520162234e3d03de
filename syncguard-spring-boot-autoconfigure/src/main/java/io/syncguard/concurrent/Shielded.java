package io.syncguard.concurrent;

import java.util.function.Supplier;
import org.apache.commons.logging.Log;

/**
 * Runs code whose failure must not harm a lock: messages, listeners, callbacks. It catches every {@link Error}, too, so
 * that leases are extended and released also without memory or threads.
 */
public final class Shielded {

    private Shielded() {}

    /** Runs the work, and logs what it throws as a warning with this message. */
    public static void run(Runnable work, Log log, Supplier<String> message) {
        try {
            work.run();
        } catch (RuntimeException | Error ex) {
            log(() -> log.warn(message.get(), ex));
        }
    }

    /** Logs, and ignores a failure: there may be no memory for it. */
    public static void log(Runnable logging) {
        try {
            logging.run();
        } catch (RuntimeException | Error ex) {
            // It cannot be reported either.
        }
    }
}
