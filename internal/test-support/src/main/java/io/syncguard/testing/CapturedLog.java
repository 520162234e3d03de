package io.syncguard.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Captures the log messages of the library while it is open. */
public final class CapturedLog implements AutoCloseable {

    private final Logger logger = LogbackLogger.named("io.syncguard");
    private final Level before = logger.getLevel();
    private final List<String> messages = new CopyOnWriteArrayList<>();
    private final List<String> stackTraces = new CopyOnWriteArrayList<>();
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            messages.add(event.getFormattedMessage());
            if (event.getThrowableProxy() != null) {
                stackTraces.add(ThrowableProxyUtil.asString(event.getThrowableProxy()));
            }
        }
    };

    /** Captures warnings and errors. */
    public CapturedLog() {
        this(Level.WARN);
    }

    /** @param lowest the lowest level to capture */
    public CapturedLog(Level lowest) {
        appender.start();
        logger.addAppender(appender);
        logger.setLevel(lowest);
        logger.setAdditive(false);
    }

    /** The messages so far. */
    public List<String> messages() {
        return messages;
    }

    /** The stack traces so far. */
    public List<String> stackTraces() {
        return stackTraces;
    }

    @Override
    public void close() {
        logger.setAdditive(true);
        logger.setLevel(before);
        logger.detachAppender(appender);
    }
}
