package io.syncguard.autoconfigure;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import io.syncguard.LockEvent;
import io.syncguard.LockException;
import io.syncguard.LockListener;
import io.syncguard.LockOperation;
import io.syncguard.testing.LogbackLogger;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Everything that a person may read: each line that the library, Spring and the pool log at any level, with the stack
 * traces of all causes, and what a test adds.
 */
final class VisibleTexts extends AppenderBase<ILoggingEvent> implements AutoCloseable {

    private static final List<Logger> LOGGERS = List.of(
            LogbackLogger.named("io.syncguard"),
            LogbackLogger.named("org.springframework"),
            LogbackLogger.named("com.zaxxer.hikari"));

    private final Collection<String> texts = new ConcurrentLinkedQueue<>();

    /** Captures the messages of these loggers until it is closed. No other appender gets them meanwhile. */
    void listen() {
        start();
        for (Logger logger : LOGGERS) {
            logger.setLevel(Level.TRACE);
            logger.setAdditive(false);
            logger.addAppender(this);
        }
    }

    void add(Object anything) {
        texts.add(String.valueOf(anything));
        if (anything instanceof Throwable failure) {
            StringWriter trace = new StringWriter();
            failure.printStackTrace(new PrintWriter(trace));
            texts.add(trace.toString());
        }
    }

    Collection<String> all() {
        return texts;
    }

    @Override
    protected void append(ILoggingEvent event) {
        texts.add(event.getThreadName() + " " + event.getFormattedMessage() + "\n"
                + ThrowableProxyUtil.asString(event.getThrowableProxy()));
    }

    @Override
    public void close() {
        for (Logger logger : LOGGERS) {
            logger.detachAppender(this);
            logger.setAdditive(true);
            logger.setLevel(null);
        }
        stop();
    }

    /** Adds every event, and fails each time. */
    static final class FailingListener implements LockListener {

        private final VisibleTexts visible;

        FailingListener(VisibleTexts visible) {
            this.visible = visible;
        }

        @Override
        public void waitStarted(LockEvent event) {
            tellAndFail(event);
        }

        @Override
        public void waitEnded(LockEvent event) {
            tellAndFail(event);
        }

        @Override
        public void acquired(LockEvent event) {
            tellAndFail(event);
        }

        @Override
        public void refused(LockEvent event) {
            tellAndFail(event);
        }

        @Override
        public void extended(LockEvent event) {
            tellAndFail(event);
        }

        @Override
        public void released(LockEvent event) {
            tellAndFail(event);
        }

        @Override
        public void lost(LockEvent event) {
            tellAndFail(event);
        }

        @Override
        public void failed(LockEvent event, LockOperation operation, LockException error) {
            visible.add(error);
            tellAndFail(event);
        }

        private void tellAndFail(LockEvent event) {
            visible.add(event);
            throw new IllegalStateException("a listener that fails: " + event);
        }
    }
}
