package io.syncguard.jdbc;

import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.LockSetupException;
import io.syncguard.concurrent.Chain;
import java.sql.SQLException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.IntroductionAdvisor;
import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.target.AbstractPrototypeBasedTargetSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.UserCredentialsDataSourceAdapter;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.ClassUtils;

/**
 * What a {@code DataSource} of the application leads to at this moment: a refresh of a scope, a
 * {@code HotSwappableTargetSource} or a setter may replace it while the application runs.
 *
 * @param inner what the wrappers of Spring lead to, which defer connections or take part in transactions, as locks must
 *     not do
 * @param pool the pool itself, or the one that another wrapper shows
 */
public record DataSourceTarget(DataSource inner, @Nullable HikariDataSource pool) {

    private static final Log log = LogFactory.getLog(DataSourceTarget.class);

    /** @throws LockSetupException if it routes to several databases */
    public static DataSourceTarget of(DataSource application) {
        DataSource inner = Chain.end(application, DataSourceTarget::ofSpring);
        return new DataSourceTarget(inner, poolBehind(inner));
    }

    /** Whether all connections are those of the pool, with its details and no others. */
    boolean isPool() {
        return inner == pool
                && ClassUtils.getMethod(pool.getClass(), "getConnection").getDeclaringClass() == HikariDataSource.class;
    }

    /** Whether locks that use the details of the pool miss what the application's connections have. */
    boolean isBypassed() {
        return pool != null && !isPool() && !(inner instanceof AbstractRoutingDataSource);
    }

    /** Keeps a wrapper that may change connections, and the one of Spring that has user and password. */
    private static @Nullable DataSource ofSpring(DataSource wrapper) {
        if (wrapper instanceof Advised proxy) {
            return Stream.of(proxy.getAdvisors()).allMatch(IntroductionAdvisor.class::isInstance)
                    ? targetOf(proxy)
                    : null;
        }
        return wrapper instanceof DelegatingDataSource delegating
                        && wrapper.getClass().getPackage() == DelegatingDataSource.class.getPackage()
                        && !(wrapper instanceof UserCredentialsDataSourceAdapter)
                ? delegating.getTargetDataSource()
                : null;
    }

    /** Returns {@code null} if each call would make a new target, or if this thread has none. */
    private static @Nullable DataSource targetOf(Advised proxy) {
        TargetSource source = proxy.getTargetSource();
        if (source instanceof AbstractPrototypeBasedTargetSource) {
            return null;
        }
        try {
            Object target = source.getTarget();
            if (target != null) {
                source.releaseTarget(target);
            }
            return target instanceof DataSource found ? found : null;
        } catch (Exception ex) {
            log.debug("The target of the DataSource cannot be read", ex);
            return null;
        }
    }

    /** Wrappers and pools of any class may hide a pool or a routing {@code DataSource}. */
    private static @Nullable HikariDataSource poolBehind(DataSource inner) {
        // All of them are looked at, because one may route.
        List<DataSource> layers = Chain.of(inner, DataSourceTarget::behind).toList();
        return layers.stream()
                .filter(each -> !(each instanceof Advised) && each instanceof HikariDataSource)
                .map(HikariDataSource.class::cast)
                .findFirst()
                .orElse(null);
    }

    /** Returns the URL of the pool behind these wrappers; {@code null} if it is unknown, or if there are several. */
    public static @Nullable String urlOf(DataSource application) {
        try {
            HikariDataSource pool = of(application).pool();
            return pool == null ? null : pool.getJdbcUrl();
        } catch (LockSetupException ex) {
            return null;
        }
    }

    private static @Nullable DataSource behind(DataSource wrapper) {
        if (wrapper instanceof Advised proxy) {
            return targetOf(proxy);
        }
        if (wrapper instanceof HikariDataSource pool) {
            return pool.getDataSource();
        }
        if (wrapper instanceof AbstractRoutingDataSource routing) {
            return onlyTarget(routing);
        }
        return wrapper instanceof DelegatingDataSource delegating ? delegating.getTargetDataSource() : shownBy(wrapper);
    }

    private static @Nullable DataSource shownBy(DataSource wrapper) {
        try {
            return wrapper.isWrapperFor(HikariConfigMXBean.class)
                            && wrapper.unwrap(HikariConfigMXBean.class) instanceof HikariDataSource pool
                    ? pool
                    : null;
        } catch (SQLException | RuntimeException | AbstractMethodError ex) {
            log.debug("The DataSource does not say what it wraps", ex);
            return null;
        }
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
                "Keep the locks of each tenant in its database: declare a LockManager bean with LockManager.routing");
    }
}
