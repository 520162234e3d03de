package io.syncguard.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.event.Event;
import io.lettuce.core.event.connection.ConnectionActivatedEvent;
import io.lettuce.core.event.connection.ReconnectFailedEvent;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Remembers why the server refuses the connections that the driver opens again. The driver itself tells callers only
 * that it is not connected. Thread-safe.
 */
final class RedisReconnects {

    private volatile @Nullable RedisCommandExecutionException refusal;

    /** Runs on a thread of the driver. */
    void accept(Event event) {
        if (event instanceof ConnectionActivatedEvent) {
            refusal = null;
        } else if (event instanceof ReconnectFailedEvent failed) {
            RedisCommandExecutionException answer = RedisErrors.answerOf(failed.getCause());
            if (answer != null || RedisErrors.hasCause(IOException.class, failed.getCause())) {
                // Otherwise the driver closed the connection before it had recorded the reason; keep the last one.
                refusal = answer;
            }
        }
    }

    /** Returns the error, or the reason why there is no connection. */
    Throwable reasonOf(Throwable error) {
        RedisCommandExecutionException current = refusal;
        return current != null && error.getClass() == RedisException.class && error.getCause() == null
                ? new RedisConnectionException("The server refuses to connect again", current)
                : error;
    }
}
