package io.syncguard.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.pubsub.StatefulRedisClusterPubSubConnection;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.syncguard.LockBackendException;
import io.syncguard.spi.Answers;
import io.syncguard.spi.WakeUpSubscriber;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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

    private static final RedisScript PUBLISH = RedisScript.named("publish");

    private static final int ANSWER_SECONDS = 2;

    private final String channel;
    private final RedisConnections connections;
    private final RedisScriptRunner scripts;
    private final List<RedisShard> shards;

    private @Nullable StatefulRedisPubSubConnection<String, String> connection;

    /** Completes when the connection is lost. The closing thread completes it, too. */
    private volatile CompletableFuture<@Nullable Void> lost = new CompletableFuture<>();

    /** In a cluster: whether the node that the driver chooses may be one that messages do not reach. */
    private boolean distrusted;

    RedisSubscription(String channel, RedisConnections connections, RedisScriptRunner scripts, RedisShards shards) {
        this.channel = channel;
        this.connections = connections;
        this.scripts = scripts;
        this.shards = shards.all();
    }

    @Override
    public void open(Consumer<String> receiver) throws InterruptedException, ExecutionException, TimeoutException {
        CompletableFuture<@Nullable Void> ends = new CompletableFuture<>();
        lost = ends;
        StatefulRedisPubSubConnection<String, String> opened = connections.subscriber();
        connection = opened;
        StatefulRedisPubSubConnection<String, String> listening = distrusted ? atMaster(opened) : opened;
        listening.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void message(String from, String message) {
                receiver.accept(message);
            }
        });
        listening.addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
                ends.complete(null);
            }
        });
        await(listening.async().subscribe(channel));
    }

    /** Returns a connection to a server that sends wake-ups. It is closed together with the other one. */
    private StatefulRedisPubSubConnection<String, String> atMaster(
            StatefulRedisPubSubConnection<String, String> opened) {
        RedisClusterNode master = masterOf(shards.get(0));
        return master != null && opened instanceof StatefulRedisClusterPubSubConnection<String, String> cluster
                ? cluster.getConnection(master.getNodeId())
                : opened;
    }

    private @Nullable RedisClusterNode masterOf(RedisShard shard) {
        return connections.masterOf(SlotHash.getSlot(shard.prefix()));
    }

    /** Each server with shards sends it once. One that cannot sends no wake-ups either, so nobody misses them. */
    @Override
    public int send(String message) {
        Map<@Nullable RedisClusterNode, RedisShard> servers = new HashMap<>();
        shards.forEach(shard -> servers.putIfAbsent(masterOf(shard), shard));
        List<RedisRequest> requests = servers.values().stream()
                .map(shard -> new RedisRequest(
                        "testing whether wake-ups arrive",
                        PUBLISH,
                        shard,
                        RedisArguments.of(List.of(shard.prefix() + "wake")),
                        RedisArguments.of(List.of(channel, message))))
                .toList();
        int sent = 0;
        LockBackendException failure = null;
        for (CompletableFuture<RedisReply> answer :
                scripts.sendAll(requests, TimeUnit.SECONDS.toMillis(ANSWER_SECONDS))) {
            try {
                Answers.await(() -> answer);
                sent++;
            } catch (LockBackendException ex) {
                failure = ex;
            }
        }
        if (sent == 0 && failure != null) {
            throw failure;
        }
        return sent;
    }

    @Override
    public void listen(CompletableFuture<?> until, Duration atMost) throws InterruptedException, ExecutionException {
        CompletableFuture<@Nullable Void> ends = lost;
        try {
            CompletableFuture.anyOf(ends, until).get(atMost.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException ex) {
            // It has listened long enough.
            return;
        }
        if (ends.isDone()) {
            throw new RedisConnectionException("The connection was closed");
        }
    }

    @Override
    public void ping() throws InterruptedException, ExecutionException, TimeoutException {
        StatefulRedisPubSubConnection<String, String> current = connection;
        if (current != null) {
            await(current.async().ping());
        }
    }

    @Override
    public void distrust() {
        distrusted = true;
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
