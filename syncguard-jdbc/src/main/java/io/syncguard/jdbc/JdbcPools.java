package io.syncguard.jdbc;

import com.zaxxer.hikari.HikariConfig;
import io.syncguard.LockSetupException;
import io.syncguard.MessageText;
import io.syncguard.concurrent.DaemonThreadFactory;
import io.syncguard.concurrent.Shielded;
import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The library's own connections, created from the connection details of the application's {@code DataSource}: some for
 * callers, one for each thread of the engine that sends requests, and one for wake-ups from the first wait on. An
 * application that has used up its pool cannot starve them, and callers cannot starve the heartbeat.
 */
public final class JdbcPools implements AutoCloseable {

    /** The shortest wait for a connection that the pool accepts, in milliseconds. */
    private static final long SHORTEST_WAIT_MILLIS = 250;

    /** Shorter than the half second within which an interrupted caller returns. */
    private static final long LONGEST_TEST_MILLIS = 400;

    /** A third of a ttl of 3 s: the heartbeat that comes upon a dead connection has time for another one. */
    private static final long LONGEST_ENGINE_TEST_MILLIS = 1000;

    /** How many dead connections a request may test within its timeout. */
    private static final int MOST_TESTS = 5;

    /**
     * The threads of the engine that send requests, of which most exist on a slow link only: three each for heartbeats,
     * safety polls and background releases; and the thread that stops the engine.
     */
    private static final int ENGINE_THREADS = 10;

    /** One for each thread on a fast link. A pool of the application does not lend more. */
    private static final int FEWEST_OF_ENGINE = 4;

    private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(2 * SHORTEST_WAIT_MILLIS);

    /**
     * Far longer than a lock operation may take, and far shorter than the server and the driver can count in
     * milliseconds.
     */
    private static final Duration LONGEST_TIMEOUT = Duration.ofMinutes(10);

    private final JdbcDatabase database;
    private final Settings settings;
    private final Duration timeout;
    private final int maximumConnections;

    /** One thread ends idle and old connections of all pools. Nobody waits for it. */
    private final ScheduledThreadPoolExecutor housekeeper =
            new ScheduledThreadPoolExecutor(1, DaemonThreadFactory.named("syncguard-pools"));

    private final ConnectionSource source;
    private final OneStoreDataSource store;
    private final LockPool operations;
    private final LockPool engine;
    private final @Nullable LockPool wakeUps;

    /**
     * What an application sets.
     *
     * @param prefix stands before {@code .pool-size} in the properties
     * @param size maximum number of connections for callers
     * @param wakeUps whether there is a connection that receives wake-ups
     * @param networkTimeout maximum time of an operation: one half for the wait for a connection, one half for the
     *     server's answer. From half a second to ten minutes
     * @param applicationName part of the name of each connection
     */
    public record Settings(String prefix, int size, boolean wakeUps, Duration networkTimeout, String applicationName) {

        public Settings {
            if (size < 1) {
                throw LockSetupException.invalid(
                        prefix + ".pool-size is " + size + ", but has to be at least 1",
                        "Correct " + prefix + ".pool-size");
            }
            if (networkTimeout.compareTo(SHORTEST_TIMEOUT) < 0 || networkTimeout.compareTo(LONGEST_TIMEOUT) > 0) {
                throw LockSetupException.invalid(
                        prefix + ".network-timeout is " + MessageText.of(networkTimeout)
                                + ", but has to be between " + MessageText.of(SHORTEST_TIMEOUT) + " and "
                                + MessageText.of(LONGEST_TIMEOUT),
                        "Correct " + prefix + ".network-timeout");
            }
        }

        private String poolSize() {
            return prefix + ".pool-size";
        }
    }

    /** @param dedicated whether the application uses this DataSource only for locks */
    public JdbcPools(JdbcDatabase database, DataSource application, boolean dedicated, Settings settings) {
        this.database = database;
        this.settings = settings;
        this.timeout = settings.networkTimeout().dividedBy(2);
        housekeeper.setRemoveOnCancelPolicy(true);
        int others = settings.size() + (settings.wakeUps() ? 1 : 0);
        Consumer<HikariConfig> completion = new Completion(database, timeout, settings.applicationName());
        this.source =
                new ConnectionSource(database, application, dedicated, others + FEWEST_OF_ENGINE, settings.poolSize());
        this.store = new OneStoreDataSource(database, application, timeout);
        int ofThreads = source.lends() || dedicated ? FEWEST_OF_ENGINE : ENGINE_THREADS;
        this.maximumConnections = others + ofThreads;
        HikariConfig ofCallers = config("syncguard", settings.size(), completion);
        // While the start uses one connection, the pool would open another one without need.
        ofCallers.setMinimumIdle(0);
        this.operations = new LockPool(ofCallers);
        HikariConfig ofEngine = config("syncguard-engine", ofThreads, completion);
        // Nobody interrupts its threads, and a connection on a slow link has to pass the test before each heartbeat.
        ofEngine.setValidationTimeout(testMillis(LONGEST_ENGINE_TEST_MILLIS, 2));
        this.engine = new LockPool(ofEngine);
        this.wakeUps = settings.wakeUps() ? wakeUpPool(completion) : null;
    }

    public DataSource operations() {
        return operations;
    }

    /** Keeps one connection open from now on, so that the first caller after the start does not wait for one. */
    public void started() {
        operations.config().setMinimumIdle(1);
    }

    /** Has one connection for each thread of the engine, so that none of them waits for another. */
    public DataSource engine() {
        return engine;
    }

    /** Opens one connection when it is needed; {@code null} if wake-ups are off. */
    public @Nullable DataSource wakeUps() {
        return wakeUps;
    }

    public int maximumConnections() {
        return maximumConnections;
    }

    /** Maximum wait for an answer of the server. */
    public Duration timeout() {
        return timeout;
    }

    @Override
    public void close() {
        Shielded.closeAll(operations, engine);
        if (wakeUps != null) {
            Shielded.closeAll(wakeUps);
        }
        housekeeper.shutdownNow();
    }

    private LockPool wakeUpPool(Consumer<HikariConfig> completion) {
        HikariConfig config = config("syncguard-listener", 1, completion.andThen(database::completeForWakeUps));
        config.setMinimumIdle(0);
        return new LockPool(config);
    }

    private HikariConfig config(String name, int size, Consumer<HikariConfig> completion) {
        HikariConfig config = connections(completion);
        config.setPoolName(name);
        // A new connection must not depend on the caller that happens to need it.
        config.setThreadFactory(DaemonThreadFactory.named(name + "-pool"));
        config.setScheduledExecutor(housekeeper);
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(1);
        config.setConnectionTimeout(timeout.toMillis());
        // A caller may test several dead connections, and an interrupt waits for the end of a test.
        config.setValidationTimeout(testMillis(LONGEST_TEST_MILLIS, MOST_TESTS));
        // The first statement, which sets up the schema, reports an error more clearly than the pool's own start does.
        config.setInitializationFailTimeout(-1);
        return config;
    }

    /** The timeout for the test of a new or an idle connection, so that so many fit into the timeout of a request. */
    private long testMillis(long longest, int tests) {
        return Math.min(longest, Math.max(SHORTEST_WAIT_MILLIS, timeout.toMillis() / tests));
    }

    private HikariConfig connections(Consumer<HikariConfig> completion) {
        HikariConfig config = new HikariConfig();
        source.copyLifetimes(config);
        DataSource opened = source.with(completion, timeout);
        String url = source.fixedUrl();
        // An URL leads to one store.
        config.setDataSource(url == null ? store.through(opened) : opened);
        // Not used to connect: HikariCP sets network timeouts in another way for MySQL's driver.
        config.setJdbcUrl(url);
        return config;
    }
}
