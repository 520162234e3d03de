package io.syncguard.testing;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.slf4j.LoggerFactory;

/** Finds the loggers to which a test adds an appender. */
public final class LogbackLogger {

    /** The first logger of a process reads Logback's configuration, with one processor for many processes. */
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private LogbackLogger() {}

    /**
     * Returns the logger with a name. Waits while another thread, such as one of a server's client, logs for the first
     * time: until SLF4J is initialised, it returns <a href="https://www.slf4j.org/codes.html#substituteLogger">
     * substitutes</a>, which have no appenders.
     */
    public static Logger named(String name) {
        // In this thread: some tests allow no other one.
        Awaitility.await()
                .atMost(PATIENCE)
                .pollDelay(Duration.ZERO)
                .pollInSameThread()
                .until(() -> LoggerFactory.getILoggerFactory() instanceof LoggerContext);
        return (Logger) LoggerFactory.getLogger(name);
    }
}
