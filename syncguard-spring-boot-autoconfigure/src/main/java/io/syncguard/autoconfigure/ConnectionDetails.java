package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockSetupException;
import io.syncguard.concurrent.Time;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Properties;
import java.util.function.Consumer;
import javax.sql.DataSource;
import javax.sql.XADataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.common.BaseDataSource;

/**
 * Reads the connection details of a {@link DataSource}, so that the library has connections of its own. Derived
 * connections never have less than the application's own: all driver properties are known, and the application's
 * connection has worked before. Otherwise, the application lends its connections. Thread-safe.
 */
final class ConnectionDetails {

    private static final Log log = LogFactory.getLog(ConnectionDetails.class);

    private static final long PAUSE_NANOS = Duration.ofSeconds(10).toNanos();

    private final DataSource application;
    private final boolean dedicated;
    private final int connections;
    private final Consumer<HikariConfig> completion;
    private final Time time;

    /** What was decided last. */
    private volatile @Nullable Decision last;

    /** Why the application got no connection at the start, which then fails. */
    private volatile @Nullable SQLException failure;

    /**
     * How connections are made, beside user and password, which change.
     *
     * @param details {@code null} if they are unknown
     */
    private record Source(DataSourceTarget target, @Nullable Known details) {}

    private record Known(
            String url,
            @Nullable String driver,
            Properties properties,
            @Nullable String schema,
            @Nullable String first) {

        static Known of(HikariConfig details) {
            return new Known(
                    Objects.requireNonNullElse(details.getJdbcUrl(), ""),
                    details.getDriverClassName(),
                    details.getDataSourceProperties(),
                    details.getSchema(),
                    details.getConnectionInitSql());
        }
    }

    /** @param again when an attempt that failed for a passing reason is made again */
    private record Decision(Source source, boolean lends, long again) {}

    /**
     * @param dedicated whether the application uses this DataSource only for locks
     * @param connections maximum number of connections
     * @param completion adds what only connections of the library have
     */
    ConnectionDetails(DataSource application, boolean dedicated, int connections, Consumer<HikariConfig> completion) {
        this(application, dedicated, connections, completion, Time.SYSTEM);
    }

    ConnectionDetails(
            DataSource application, boolean dedicated, int connections, Consumer<HikariConfig> completion, Time time) {
        this.application = application;
        this.dedicated = dedicated;
        this.connections = connections;
        this.completion = completion;
        this.time = time;
    }

    DataSource application() {
        return application;
    }

    /** Returns the pool if it is the {@code DataSource} itself, so that nothing can replace it. */
    @Nullable
    HikariDataSource fixedPool() {
        DataSourceTarget target = DataSourceTarget.of(application);
        return target.inner() == application && target.isPool() ? target.pool() : null;
    }

    /** Copies how long a connection of the application's pool lives. */
    void copyLifetimes(HikariConfig config) {
        HikariDataSource pool = DataSourceTarget.of(application).pool();
        if (pool != null) {
            HikariDetails.copyLifetimes(pool, config);
        }
    }

    /** Decides at the start, so that its log shows a warning. The first connection reports an error. */
    void decide() {
        HikariDataSource pool = DataSourceTarget.of(application).pool();
        if (pool != null && !isConfigured(pool)) {
            LockStores.requireConnections(application);
        }
        try {
            derived();
        } catch (LockSetupException ex) {
            throw ex;
        } catch (SQLException ex) {
            failure = ex;
        } catch (RuntimeException ex) {
            log.debug("The DataSource gives no connection", ex);
        }
    }

    /**
     * Returns the details for the next connection; {@code null} if the application lends it.
     *
     * @throws SQLException if the application gets no connection, so that the details cannot be compared with it
     */
    @Nullable
    HikariConfig derived() throws SQLException {
        SQLException atStart = failure;
        if (atStart != null) {
            throw atStart;
        }
        DataSourceTarget target = DataSourceTarget.of(application);
        HikariDataSource pool = target.pool();
        if (dedicated && pool != null && !target.isPool()) {
            requireSize(pool);
            return null;
        }
        HikariConfig details = pool == null ? detailsOf(target.inner()) : HikariDetails.copyOf(pool);
        Source source = new Source(target, details == null ? null : Known.of(details));
        Decision known = last;
        if (known == null || !known.source().equals(source)) {
            known = decided(source, details);
            last = known;
        } else if (known.again() <= time.nanoTime()) {
            // Meanwhile, other threads use the decision so far.
            last = new Decision(source, known.lends(), time.nanoTime() + PAUSE_NANOS);
            known = decided(source, details);
            last = known;
        }
        return known.lends() ? null : details;
    }

    private Decision decided(Source source, @Nullable HikariConfig details) throws SQLException {
        DataSourceTarget target = source.target();
        if (target.isPool()) {
            return new Decision(source, false, Time.NEVER);
        }
        if (details == null) {
            LockStores.requireConnections(application);
            warnOfLending(" cannot be read");
            return new Decision(source, true, Time.NEVER);
        }
        HikariConfig trial = HikariDetails.copyOf(details);
        completion.accept(trial);
        TrialConnection.Problem problem = TrialConnection.problem(trial, target);
        if (problem != null) {
            warnOfLending(" cannot be used, because " + problem.text());
            return new Decision(source, true, problem.passing() ? time.nanoTime() + PAUSE_NANOS : Time.NEVER);
        }
        if (target.isBypassed()) {
            warnOfBypassing(target.inner().getClass());
        }
        return new Decision(source, false, Time.NEVER);
    }

    private void warnOfBypassing(Class<?> wrapper) {
        log.warn("Connections for locks bypass " + wrapper.getName() + ", because they do not come from the pool of the"
                + " application: what it adds to a connection, such as traces or tokens, is missing for them. To keep"
                + " it, wrap a second DataSource, and mark that with @SyncGuardDataSource");
    }

    private void warnOfLending(String reason) {
        log.warn("The connection details of " + application.getClass().getName() + reason + ": SyncGuard takes its"
                + " connections, up to " + connections
                + ", out of that DataSource for good. If that is a pool, give SyncGuard a DataSource of its own with"
                + " @SyncGuardDataSource");
    }

    private void requireSize(HikariDataSource pool) {
        if (pool.getMaximumPoolSize() < connections) {
            throw LockSetupException.invalid(
                    "The DataSource that is marked with @SyncGuardDataSource has a pool of " + pool.getMaximumPoolSize()
                            + " connections, and locks need " + connections,
                    "Set its maximum-pool-size to " + connections,
                    "Set a smaller syncguard.postgres.pool-size");
        }
    }

    private static boolean isConfigured(HikariDataSource pool) {
        return pool.getJdbcUrl() != null
                || pool.getDataSource() != null
                || pool.getDataSourceClassName() != null
                || pool.getDataSourceJNDI() != null;
    }

    private static @Nullable HikariConfig detailsOf(DataSource source) {
        return xaDataSourceOf(source) instanceof BaseDataSource driver
                ? PoolProperties.of(driver)
                : PoolProperties.of(source);
    }

    /** Unwraps a pool for JTA, whose connections would be part of the caller's transaction. */
    private static @Nullable XADataSource xaDataSourceOf(DataSource source) {
        try {
            return source.isWrapperFor(XADataSource.class) ? source.unwrap(XADataSource.class) : null;
        } catch (SQLException | RuntimeException ex) {
            log.debug("The DataSource does not say what it wraps", ex);
            return null;
        }
    }
}
