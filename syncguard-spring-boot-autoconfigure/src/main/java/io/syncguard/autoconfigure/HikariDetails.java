package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.util.Credentials;
import java.util.Objects;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Copies the details of a connection, as HikariCP keeps them. */
final class HikariDetails {

    static final String CREDENTIALS_PROVIDER = "com.zaxxer.hikari.HikariCredentialsProvider";

    /** HikariCP 6, which comes with Spring Boot 3.5, has no credentials providers. */
    private static final boolean HAS_CREDENTIALS_PROVIDERS =
            ClassUtils.isPresent(CREDENTIALS_PROVIDER, HikariConfig.class.getClassLoader());

    private HikariDetails() {}

    /** Returns user and password for the next connection. */
    static Credentials loginOf(HikariConfig details) {
        Object provider = HAS_CREDENTIALS_PROVIDERS ? details.getCredentialsProvider() : null;
        return provider == null ? details.getCredentials() : providedBy(provider);
    }

    private static Credentials providedBy(Object provider) {
        Class<?> type = ClassUtils.resolveClassName(CREDENTIALS_PROVIDER, HikariConfig.class.getClassLoader());
        return (Credentials) Objects.requireNonNull(
                ReflectionUtils.invokeMethod(ClassUtils.getMethod(type, "getCredentials"), provider));
    }

    /** Copies how long a connection lives. */
    static void copyLifetimes(HikariConfig pool, HikariConfig details) {
        details.setMaxLifetime(pool.getMaxLifetime());
        details.setIdleTimeout(pool.getIdleTimeout());
        details.setKeepaliveTime(pool.getKeepaliveTime());
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
        copyLifetimes(pool, details);
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
