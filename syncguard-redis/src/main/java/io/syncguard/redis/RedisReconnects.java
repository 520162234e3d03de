package io.syncguard.redis;

import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.event.Event;
import io.lettuce.core.event.connection.ConnectionActivatedEvent;
import io.lettuce.core.event.connection.ReconnectFailedEvent;
import java.io.IOException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Remembers why the server refuses the connections that the driver opens again. The driver itself tells callers only
 * that it is not connected. Thread-safe.
 */
final class RedisReconnects {

    private final RedisMistakes mistakes;

    private volatile @Nullable Throwable refusal;

    RedisReconnects(RedisMistakes mistakes) {
        this.mistakes = mistakes;
    }

    /** Runs on a thread of the driver. */
    void accept(Event event) {
        if (event instanceof ConnectionActivatedEvent) {
            refusal = null;
        } else if (event instanceof ReconnectFailedEvent failed) {
            failed(failed.getCause());
        }
    }

    /** Remembers why there is no connection, or will be none. */
    void failed(Throwable error) {
        Throwable reason = RedisErrors.mistakeIn(mistakes.explained(error));
        if (reason == null) {
            reason = RedisErrors.answerOf(error);
        }
        if (reason == null && refusal == null && RedisErrors.isClosed(error)) {
            reason = error;
        }
        if (reason != null || RedisErrors.hasCause(IOException.class, error)) {
            // Otherwise the driver closed the connection before it had recorded the reason; keep the last one.
            refusal = reason;
        }
    }

    /** Returns the error, or the reason why there is no connection. */
    Throwable reasonOf(Throwable error) {
        Throwable current = refusal;
        return current != null && isWithoutReason(error)
                ? new RedisConnectionException("The server refuses to connect again", current)
                : mistakes.explained(error);
    }

    /** Whether it says that there is no connection, or that the one that begins is not ready yet. */
    private static boolean isWithoutReason(Throwable error) {
        return error.getCause() == null
                && (error.getClass() == RedisException.class || error.getClass() == TimeoutException.class);
    }
}
