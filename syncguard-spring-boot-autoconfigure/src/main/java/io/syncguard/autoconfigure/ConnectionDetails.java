package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;
import io.syncguard.LockSetupException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import javax.sql.DataSource;
import javax.sql.XADataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.common.BaseDataSource;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.UserCredentialsDataSourceAdapter;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.ClassUtils;

/** Reads the connection details of a {@link DataSource}, so that the library has connections of its own. */
final class ConnectionDetails {

    private static final Log log = LogFactory.getLog(ConnectionDetails.class);

    /** HikariCP 6, which comes with Spring Boot 3.5, has no credentials providers. */
    private static final boolean HAS_CREDENTIALS_PROVIDERS =
            ClassUtils.isPresent("com.zaxxer.hikari.HikariCredentialsProvider", HikariConfig.class.getClassLoader());

    private ConnectionDetails() {}

    /**
     * Returns details for connections like those of the application's pool.
     *
     * @param dedicated whether the application uses this DataSource only for locks
     * @param connections maximum number of connections
     * @param timeout maximum wait for an answer of the server
     */
    static HikariConfig of(DataSource application, boolean dedicated, int connections, Duration timeout) {
        Object inner = withoutSpring(application);
        if (inner instanceof AbstractRoutingDataSource routing) {
            return of(onlyTarget(routing), dedicated, connections, timeout);
        }
        requireOneTarget(inner);
        HikariDataSource pool =
                DataSourceUnwrapper.unwrap(application, HikariConfigMXBean.class, HikariDataSource.class);
        if (pool == null) {
            return withoutPool(application, inner, connections, timeout);
        }
        if (!isConfigured(pool)) {
            LockStores.requireConnections(application);
        }
        if (inner == pool && !changesConnections(pool)) {
            return copyOf(pool);
        }
        if (dedicated) {
            return through(application, pool, connections);
        }
        HikariConfig details = copyOf(pool);
        String failure = isByUrl(details) ? TrialConnection.failure(details, application, timeout) : null;
        return failure == null
                ? past(inner.getClass(), details)
                : lent(application, connections, " cannot be used, because " + failure);
    }

    /** Wrappers and pools of any class may hide a routing {@code DataSource}. */
    private static void requireOneTarget(Object application) {
        Object inner = application;
        while (inner != null) {
            if (inner instanceof AbstractRoutingDataSource routing) {
                onlyTarget(routing);
            }
            inner = inner instanceof HikariDataSource pool ? pool.getDataSource() : targetOf(inner);
        }
    }

    private static @Nullable Object targetOf(Object wrapper) {
        Object target = AopProxyUtils.getSingletonTarget(wrapper);
        return target == null && wrapper instanceof DelegatingDataSource delegating
                ? delegating.getTargetDataSource()
                : target;
    }

    /** Requires a single target, because locks of one key in two databases would not exclude each other. */
    private static DataSource onlyTarget(AbstractRoutingDataSource routing) {
        Set<DataSource> targets = Collections.newSetFromMap(new IdentityHashMap<>());
        targets.addAll(routing.getResolvedDataSources().values());
        if (routing.getResolvedDefaultDataSource() != null) {
            targets.add(routing.getResolvedDefaultDataSource());
        }
        if (targets.size() == 1) {
            return targets.iterator().next();
        }
        throw LockSetupException.invalid(
                "The DataSource " + ClassUtils.getShortName(routing.getClass()) + " routes to " + targets.size()
                        + " databases, and a lock manager keeps its locks in one",
                "Keep all locks in one of them: mark its DataSource bean with @SyncGuardDataSource",
                "Keep the locks of each tenant in its database: declare a LockManager bean with PostgresLockManagers");
    }

    /**
     * Removes the wrappers of Spring that defer connections or take part in transactions, which locks must not do.
     * Keeps other wrappers, which may change connections, and the one of Spring that has the user and the password.
     */
    private static Object withoutSpring(DataSource application) {
        Object inner = application;
        while (true) {
            boolean kept = inner instanceof DelegatingDataSource
                    && (inner instanceof UserCredentialsDataSourceAdapter
                            || inner.getClass().getPackage() != DelegatingDataSource.class.getPackage());
            Object next = kept ? null : targetOf(inner);
            if (next == null) {
                return inner;
            }
            inner = next;
        }
    }

    private static boolean isConfigured(HikariDataSource pool) {
        return pool.getJdbcUrl() != null
                || pool.getDataSource() != null
                || pool.getDataSourceClassName() != null
                || pool.getDataSourceJNDI() != null;
    }

    private static boolean changesConnections(HikariDataSource pool) {
        return ClassUtils.getMethod(pool.getClass(), "getConnection").getDeclaringClass() != HikariDataSource.class;
    }

    private static HikariConfig past(Class<?> wrapper, HikariConfig details) {
        log.warn("Connections for locks bypass " + wrapper.getName() + ", because they do not come from the pool of the"
                + " application: what it adds to a connection, such as traces or tokens, is missing for them. To keep"
                + " it, wrap a second DataSource, and mark that with @SyncGuardDataSource");
        return details;
    }

    private static HikariConfig through(DataSource application, HikariDataSource pool, int connections) {
        if (pool.getMaximumPoolSize() < connections) {
            throw LockSetupException.invalid(
                    "The DataSource that is marked with @SyncGuardDataSource has a pool of " + pool.getMaximumPoolSize()
                            + " connections, and locks need " + connections,
                    "Set its maximum-pool-size to " + connections,
                    "Set a smaller syncguard.postgres.pool-size");
        }
        HikariConfig details = new HikariConfig();
        details.setDataSource(application);
        return details;
    }

    private static HikariConfig withoutPool(DataSource application, Object inner, int connections, Duration timeout) {
        HikariConfig details = inner instanceof UserCredentialsDataSourceAdapter
                ? new HikariConfig()
                : copyOf(derivedFrom(application, inner));
        if (details.getJdbcUrl() == null) {
            LockStores.requireConnections(application);
            return lent(application, connections, " cannot be read");
        }
        String problem = TrialConnection.problem(details, application, timeout);
        return problem == null ? details : lent(application, connections, " cannot be used, because " + problem);
    }

    private static HikariConfig lent(DataSource application, int connections, String reason) {
        log.warn("The connection details of " + application.getClass().getName() + reason + ": SyncGuard takes its"
                + " connections, up to " + connections
                + ", out of that DataSource for good. If that is a pool, give SyncGuard a DataSource of its own with"
                + " @SyncGuardDataSource");
        HikariConfig details = new HikariConfig();
        details.setDataSource(application);
        return details;
    }

    private static boolean isByUrl(HikariConfig details) {
        return details.getJdbcUrl() != null
                && details.getDataSource() == null
                && (!HAS_CREDENTIALS_PROVIDERS || details.getCredentialsProvider() == null);
    }

    private static HikariConfig derivedFrom(DataSource application, Object inner) {
        if (xaDataSourceOf(application) instanceof BaseDataSource driver) {
            return detailsOf(driver);
        }
        HikariConfig details;
        try {
            details = DataSourceBuilder.derivedFrom(application)
                    .type(HikariDataSource.class)
                    .build();
        } catch (RuntimeException ex) {
            // Boot does not read the password of DBCP2, and nothing of pools that it does not know.
            details = PoolProperties.login(inner);
        }
        PoolProperties.complete(details, inner);
        return details;
    }

    /** Unwraps a pool for JTA, whose connections would be part of the caller's transaction. */
    private static @Nullable XADataSource xaDataSourceOf(DataSource application) {
        try {
            return application.isWrapperFor(XADataSource.class) ? application.unwrap(XADataSource.class) : null;
        } catch (SQLException | RuntimeException ex) {
            log.debug("The DataSource does not say what it wraps", ex);
            return null;
        }
    }

    private static HikariConfig detailsOf(BaseDataSource driver) {
        HikariConfig details = new HikariConfig();
        details.setJdbcUrl(driver.getUrl());
        details.setUsername(driver.getUser());
        details.setPassword(driver.getPassword());
        return details;
    }

    /**
     * Copies the connection details, and the lifetime of connections. Does not use {@link HikariConfig#copyStateTo},
     * which shares the driver's properties between the pools, so that our timeouts would apply to the application.
     */
    static HikariConfig copyOf(HikariConfig pool) {
        HikariConfig details = new FollowingConfig(pool);
        details.setDataSource(pool.getDataSource());
        details.setDataSourceClassName(pool.getDataSourceClassName());
        details.setDataSourceJNDI(pool.getDataSourceJNDI());
        details.setDataSourceProperties(pool.getDataSourceProperties());
        details.setJdbcUrl(pool.getJdbcUrl());
        if (pool.getDriverClassName() != null) {
            details.setDriverClassName(pool.getDriverClassName());
        }
        if (HAS_CREDENTIALS_PROVIDERS) {
            details.setCredentialsProvider(pool.getCredentialsProvider());
        }
        details.setSchema(pool.getSchema());
        details.setConnectionInitSql(pool.getConnectionInitSql());
        details.setMaxLifetime(pool.getMaxLifetime());
        details.setIdleTimeout(pool.getIdleTimeout());
        details.setKeepaliveTime(pool.getKeepaliveTime());
        return details;
    }

    /** Gives each new connection the user and the password that the pool of the application has at that time. */
    private static final class FollowingConfig extends HikariConfig {

        private final HikariConfig pool;

        FollowingConfig(HikariConfig pool) {
            this.pool = pool;
        }

        @Override
        public Credentials getCredentials() {
            return pool.getCredentials();
        }
    }
}
