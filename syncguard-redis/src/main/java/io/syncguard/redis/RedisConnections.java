package io.syncguard.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.async.BaseRedisAsyncCommands;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.netty.util.Timer;
import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.concurrent.Shielded;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The library's connections: one for all lock operations and, from the first waiter on, one for wake-ups. Neither
 * commands nor threads of the application delay them.
 */
final class RedisConnections implements AutoCloseable {

    private static final Log log = LogFactory.getLog(RedisConnections.class);

    /** Maximum number of attempts to connect while the driver does not know why the connection failed. */
    private static final int ATTEMPTS = 10;

    /** The pause grows with each attempt: on a busy machine, attempts in quick succession fail in the same way. */
    private static final long PAUSE_NANOS = 5_000_000;

    /** Maximum wait of close() for connecting threads. */
    private static final long GRACE_MILLIS = 100;

    /** Longer than a new JVM on a busy machine needs to load the driver. */
    private static final long LOADING_SECONDS = 30;

    private final ThreadFactory connectors = DaemonThreadFactory.named("syncguard-connect");
    private final RedisDriver driver;
    private final RedisLayout layout;

    /** The running or successful attempt to connect. After a success the driver reconnects by itself. */
    private final AtomicReference<@Nullable CompletableFuture<BaseRedisAsyncCommands<byte[], byte[]>>> attempt =
            new AtomicReference<>();

    /** The connecting threads, each with a future that completes at the end of the attempt. */
    private final Map<Thread, CompletableFuture<@Nullable Void>> connecting = new ConcurrentHashMap<>();

    /** Written and read by the threads that stop and start the engine. */
    private volatile boolean disconnected;

    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * @param application has the connection details
     */
    RedisConnections(LettuceConnectionFactory application, RedisSettings settings, String applicationName) {
        this(new RedisApplication(() -> application), settings, applicationName);
    }

    RedisConnections(RedisApplication application, RedisSettings settings, String applicationName) {
        this.driver = new RedisDriver(application, settings, applicationName);
        this.layout = settings.layout();
    }

    /** Begins to connect, and waits until the driver has opened a socket or failed. This takes a while in a new JVM. */
    void begin() throws InterruptedException {
        CompletableFuture<?> either = CompletableFuture.anyOf(attempt(), driver.opened());
        try {
            either.get(LOADING_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException ex) {
            log.debug("The next attempt shows it again", ex);
        }
    }

    /**
     * Returns the connection that runs scripts, after the check of the number of shards. Connecting to sentinels and to
     * the nodes of a cluster may take several timeouts. So a separate thread connects.
     */
    CompletableFuture<BaseRedisAsyncCommands<byte[], byte[]>> attempt() {
        CompletableFuture<BaseRedisAsyncCommands<byte[], byte[]>> known = attempt.get();
        return known == null ? begun() : known;
    }

    /** Returns the attempt that this thread begins, or the one that another thread began at the same moment. */
    private CompletableFuture<BaseRedisAsyncCommands<byte[], byte[]>> begun() {
        CompletableFuture<BaseRedisAsyncCommands<byte[], byte[]>> mine = new CompletableFuture<>();
        CompletableFuture<BaseRedisAsyncCommands<byte[], byte[]>> known = attempt.compareAndExchange(null, mine);
        if (known != null) {
            return known;
        }
        Thread connector = connectors.newThread(() -> connect(mine));
        try {
            connector.start();
        } catch (Error ex) {
            // No thread could be started. The next caller tries again.
            attempt.set(null);
            mine.completeExceptionally(ex);
            throw ex;
        }
        return mine;
    }

    /** Opens a new connection for wake-ups. */
    StatefulRedisPubSubConnection<String, String> subscriber() {
        return unlessClosed(() -> {
            AbstractRedisClient client = driver.factory().getRequiredNativeClient();
            return client instanceof RedisClusterClient cluster
                    ? cluster.connectPubSub()
                    : ((RedisClient) client).connectPubSub();
        });
    }

    boolean isCluster() {
        return driver.factory().isClusterAware();
    }

    /** Returns the master of a slot, as far as the driver knows; {@code null} where there is no cluster. */
    @Nullable
    RedisClusterNode masterOf(int slot) {
        return driver.factory().getRequiredNativeClient() instanceof RedisClusterClient client
                ? client.getPartitions().getPartitionBySlot(slot)
                : null;
    }

    /** Returns the error of a request, or the reason why it had no connection. */
    Throwable reasonOf(Throwable error) {
        return driver.reconnects().reasonOf(error);
    }

    /** The name of the server for messages, such as {@code Redis at 127.0.0.1:6379}. */
    String server() {
        return driver.server();
    }

    /** Returns a connection for a single command. */
    RedisConnection connection() {
        return driver.factory().getConnection();
    }

    /** Reports a failed request. Closes its connection if the server answered that it is not the master. */
    void failed(Throwable error) {
        driver.failed(error);
    }

    /** The timer for requests that no thread waits for. */
    Timer timer() {
        return driver.timer();
    }

    /** Closes all connections. The next request opens one. */
    void disconnect() {
        if (!closed.get()) {
            disconnected = true;
            awaitConnecting();
            attempt.set(null);
            Shielded.uninterrupted(driver::disconnect);
        }
    }

    /** Opens the connection for lock operations again, without waiting for it. */
    void reconnect() {
        if (disconnected) {
            disconnected = false;
            Shielded.run(this::attempt, ex -> log.debug("The first request connects", ex));
        }
    }

    @Override
    public void close() {
        // Two threads that close the driver at the same time may deadlock.
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        awaitConnecting();
        // The driver does not end the wait of a thread that is still connecting.
        connecting.keySet().forEach(Thread::interrupt);
        // On an interrupted thread, the driver would leave its own threads running.
        Shielded.uninterrupted(driver::close);
    }

    private void connect(CompletableFuture<BaseRedisAsyncCommands<byte[], byte[]>> mine) {
        try {
            mine.complete(unlessClosed(this::checkedConnection));
        } catch (Throwable ex) {
            // The next caller tries again.
            attempt.compareAndSet(mine, null);
            mine.completeExceptionally(closed.get() ? ex : driver.explained(ex));
        }
    }

    private BaseRedisAsyncCommands<byte[], byte[]> checkedConnection() {
        BaseRedisAsyncCommands<byte[], byte[]> commands = asCommands(nativeConnection());
        layout.check(commands);
        return commands;
    }

    private Object nativeConnection() {
        for (int tries = 1; ; tries++) {
            try {
                return driver.factory().getConnection().getNativeConnection();
            } catch (RedisConnectionFailureException ex) {
                // The server refused the connection, and the driver closed it before this thread could read the reason.
                if (tries == ATTEMPTS || !(ex.getMostSpecificCause() instanceof IllegalStateException)) {
                    throw ex;
                }
                LockSupport.parkNanos(tries * PAUSE_NANOS);
            }
        }
    }

    private <T> T unlessClosed(Supplier<T> connector) {
        CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();
        connecting.put(Thread.currentThread(), ended);
        try {
            // Read the flag after registering the thread: either close() finds the thread, or the thread sees the flag.
            if (closed.get()) {
                throw new RedisException("The connections are closed");
            }
            return connector.get();
        } finally {
            connecting.remove(Thread.currentThread());
            ended.complete(null);
        }
    }

    /**
     * Waits for connecting threads: the driver does not close a connection that has just begun, so it would stay open.
     */
    private void awaitConnecting() {
        try {
            CompletableFuture.allOf(connecting.values().toArray(CompletableFuture[]::new))
                    .get(GRACE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException ex) {
            log.debug("Closed while connecting", ex);
        }
    }

    /** The type is the same for one server, for sentinels and for a cluster. */
    @SuppressWarnings("unchecked")
    private static BaseRedisAsyncCommands<byte[], byte[]> asCommands(Object connection) {
        return (BaseRedisAsyncCommands<byte[], byte[]>) connection;
    }
}
