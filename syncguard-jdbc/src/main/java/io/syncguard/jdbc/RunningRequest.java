package io.syncguard.jdbc;

import io.syncguard.LockBackendException;
import io.syncguard.concurrent.Chain;
import java.net.SocketTimeoutException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * One request on a connection. Aborting the connection ends it. A cancel request to the server may arrive late, and
 * would end the next statement on the connection.
 */
final class RunningRequest implements AutoCloseable {

    private static final Log log = LogFactory.getLog(RunningRequest.class);

    private final Thread caller = Thread.currentThread();
    private final Connection connection;
    private final long deadline;
    private final boolean interruptible;
    private final Consumer<RunningRequest> onClose;

    /** Also makes the caller wait for an abort that has begun: none may happen after the end of the request. */
    private final ReentrantLock lock = new ReentrantLock();

    /** Whether its end has begun. Used by one thread. */
    private boolean isEnding;

    /** Guarded by the lock. */
    private boolean closed;

    /** Guarded by the lock: why the request was ended. */
    private @Nullable Exception reason;

    RunningRequest(Connection connection, long deadline, boolean interruptible, Consumer<RunningRequest> onClose) {
        this.connection = connection;
        this.deadline = deadline;
        this.interruptible = interruptible;
        this.onClose = onClose;
    }

    /** @param aborts runs what may take long: a driver may ask the server to end the statement, and wait for it */
    void endIfDue(long now, Executor aborts) {
        if (isEnding) {
            return;
        }
        if (interruptible && caller.isInterrupted()) {
            isEnding = true;
            aborts.execute(() -> end(new InterruptedException()));
        } else if (now >= deadline) {
            isEnding = true;
            aborts.execute(() -> end(new RequestTimeoutException()));
        }
    }

    /** The time for all answers of a request is over. */
    private static final class RequestTimeoutException extends SocketTimeoutException {

        private static final long serialVersionUID = 1L;

        RequestTimeoutException() {
            super("The request timed out");
        }
    }

    /** Whether the driver gave up, because a single answer did not arrive in time. */
    static boolean isWithoutAnswer(LockBackendException failure) {
        return Chain.causes(failure)
                .anyMatch(cause ->
                        cause instanceof SocketTimeoutException && !(cause instanceof RequestTimeoutException));
    }

    /** Adds to the error the reason why this request was ended, if it was. */
    SQLException explained(SQLException error) {
        lock.lock();
        try {
            if (reason == null) {
                return error;
            }
            SQLException explained = new SQLException(error.getMessage(), error.getSQLState(), reason);
            explained.addSuppressed(error);
            return explained;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        onClose.accept(this);
        lock.lock();
        try {
            closed = true;
            if (reason != null) {
                // Shows the pool that it is closed: the request may have ended well just before.
                connection.clearWarnings();
            }
        } catch (SQLException ex) {
            log.debug("The connection was aborted", ex);
        } finally {
            lock.unlock();
        }
    }

    private void end(Exception why) {
        lock.lock();
        try {
            if (!closed && reason == null) {
                reason = why;
                connection.abort(Runnable::run);
            }
        } catch (Throwable ex) {
            log.debug("A connection could not be aborted; its request ends by the limit for the answer", ex);
        } finally {
            lock.unlock();
        }
    }
}
