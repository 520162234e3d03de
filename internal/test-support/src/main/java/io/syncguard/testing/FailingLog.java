package io.syncguard.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Makes the logging of the library's messages that begin with a text fail while it is open, as if there were no memory.
 */
public final class FailingLog implements AutoCloseable {

    private final Logger logger = LogbackLogger.named("io.syncguard");
    private final Level before = logger.getLevel();
    private final AtomicInteger failures = new AtomicInteger();
    private final AppenderBase<ILoggingEvent> appender;

    public FailingLog(String beginning) {
        appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                if (event.getFormattedMessage().startsWith(beginning)) {
                    failures.incrementAndGet();
                    throw ScarceThreads.shortage();
                }
            }
        };
        appender.start();
        logger.addAppender(appender);
        logger.setLevel(Level.INFO);
        logger.setAdditive(false);
    }

    /** The number of messages that could not be logged. */
    public int failures() {
        return failures.get();
    }

    @Override
    public void close() {
        logger.setAdditive(true);
        logger.setLevel(before);
        logger.detachAppender(appender);
    }
}
