package io.syncguard.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.syncguard.spi.WakeUpSubscriber;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Listens to one channel by {@code SUBSCRIBE}, on a connection of its own. Closes a lost connection, although the
 * driver could reconnect: the subscriber reconnects itself, for each store in the same way.
 */
final class RedisSubscription implements WakeUpSubscriber.Subscription {

    /** After this time without a loss of the connection, the thread asks whether the server still answers. */
    private static final int CHECK_AFTER_SECONDS = 10;

    private static final int ANSWER_SECONDS = 2;

    private final String channel;
    private final RedisConnections connections;

    private @Nullable StatefulRedisPubSubConnection<String, String> connection;

    /** Completes when the connection is lost. The closing thread completes it, too. */
    private volatile CompletableFuture<@Nullable Void> lost = new CompletableFuture<>();

    RedisSubscription(String channel, RedisConnections connections) {
        this.channel = channel;
        this.connections = connections;
    }

    @Override
    public boolean open(Consumer<String> receiver) throws InterruptedException, ExecutionException, TimeoutException {
        CompletableFuture<@Nullable Void> ends = new CompletableFuture<>();
        lost = ends;
        StatefulRedisPubSubConnection<String, String> opened = connections.subscriber();
        connection = opened;
        opened.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void message(String from, String message) {
                receiver.accept(message);
            }
        });
        opened.addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
                ends.complete(null);
            }
        });
        await(opened.async().subscribe(channel));
        return true;
    }

    @Override
    public void listen() throws InterruptedException, ExecutionException, TimeoutException {
        StatefulRedisPubSubConnection<String, String> current = connection;
        if (current == null || isLostWithin(CHECK_AFTER_SECONDS)) {
            throw new RedisConnectionException("The connection was closed");
        }
        await(current.async().ping());
    }

    private boolean isLostWithin(int seconds) throws InterruptedException, ExecutionException {
        try {
            lost.get(seconds, TimeUnit.SECONDS);
            return true;
        } catch (TimeoutException ex) {
            return false;
        }
    }

    private static void await(RedisFuture<?> answer) throws InterruptedException, ExecutionException, TimeoutException {
        answer.get(ANSWER_SECONDS, TimeUnit.SECONDS);
    }

    /** Does not wait for the end of the connection, because the driver may be closing. */
    @Override
    public void close() {
        StatefulRedisPubSubConnection<String, String> ended = connection;
        connection = null;
        if (ended != null) {
            ended.closeAsync();
        }
    }

    /** Leaves the connection open; it is closed together with the others. */
    @Override
    public void abort() {
        lost.complete(null);
    }
}
