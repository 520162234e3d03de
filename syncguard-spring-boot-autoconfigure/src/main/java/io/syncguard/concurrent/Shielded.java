package io.syncguard.concurrent;

import java.util.function.Supplier;
import org.apache.commons.logging.Log;

/**
 * Runs what may fail without harm to a lock: messages, listeners, callbacks. It catches each {@link Error}, too:
 * without memory or threads, leases are still extended and given back.
 */
public final class Shielded {

    private Shielded() {}

    /** Runs it, and logs what it throws, as a warning that begins with this message. */
    public static void run(Runnable work, Log log, Supplier<String> message) {
        try {
            work.run();
        } catch (RuntimeException | Error ex) {
            log(() -> log.warn(message.get(), ex));
        }
    }

    /** Logs something, unless that fails: there may be no memory for it. */
    public static void log(Runnable logging) {
        try {
            logging.run();
        } catch (RuntimeException | Error ex) {
            // There is nowhere left to report it.
        }
    }
}
