package io.syncguard.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.util.Credentials;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.AgroalConnectionFactoryConfiguration;
import io.agroal.api.security.SimplePassword;
import io.syncguard.jdbc.JdbcDatabase.Login;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import javax.sql.CommonDataSource;
import javax.sql.DataSource;
import javax.sql.XADataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.AbstractDriverBasedDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * What a {@code DataSource} uses for a connection at this moment, so that the library can open one of its own. Knows
 * only classes that show all of it: a connection with a part of its driver properties could be encrypted less than
 * those of the application.
 */
final class ConnectionDetails {

    private static final Log log = LogFactory.getLog(ConnectionDetails.class);

    static final String CREDENTIALS_PROVIDER = "com.zaxxer.hikari.HikariCredentialsProvider";

    /** HikariCP 6, which comes with Spring Boot 3.5, has no credentials providers. */
    private static final boolean HAS_CREDENTIALS_PROVIDERS =
            ClassUtils.isPresent(CREDENTIALS_PROVIDER, HikariConfig.class.getClassLoader());

    private static final String AGROAL = "io.agroal.pool.DataSource";

    /** The classes themselves, because a subclass may connect in another way. */
    private static final Set<Class<?>> OF_SPRING =
            Set.of(DriverManagerDataSource.class, SimpleDriverDataSource.class, SingleConnectionDataSource.class);

    private ConnectionDetails() {}

    /** Returns {@code null} if the application has to lend its connections. */
    static @Nullable HikariConfig of(DataSource source, JdbcDatabase database) {
        Login login = database.loginOf(withoutJta(source));
        if (login != null) {
            return ofDriver(withoutJta(source), login, database);
        }
        if (source.getClass().getName().equals(AGROAL)) {
            return OfAgroal.details((AgroalDataSource) source, database);
        }
        return OF_SPRING.contains(source.getClass())
                ? ofSpring((AbstractDriverBasedDataSource) source, database)
                : null;
    }

    /** Unwraps a pool for JTA, whose connections would be part of the caller's transaction. */
    private static CommonDataSource withoutJta(DataSource source) {
        try {
            return source.isWrapperFor(XADataSource.class) ? source.unwrap(XADataSource.class) : source;
        } catch (SQLException | RuntimeException | AbstractMethodError ex) {
            log.debug("The DataSource does not say what it wraps", ex);
            return source;
        }
    }

    /** A subclass may connect in another way. */
    private static @Nullable HikariConfig ofDriver(CommonDataSource source, Login login, JdbcDatabase database) {
        return database.isOfDriver(source.getClass()) ? details(database, login, null) : null;
    }

    private static @Nullable HikariConfig ofSpring(AbstractDriverBasedDataSource source, JdbcDatabase database) {
        HikariConfig details = details(
                database,
                new Login(source.getUrl(), source.getUsername(), source.getPassword()),
                source.getConnectionProperties());
        if (details != null && source instanceof SimpleDriverDataSource simple) {
            if (simple.getDriver() == null
                    || !database.isOfDriver(simple.getDriver().getClass())) {
                return null;
            }
            details.setDriverClassName(simple.getDriver().getClass().getName());
        }
        if (details != null && source.getSchema() != null) {
            details.setSchema(source.getSchema());
        }
        return details;
    }

    /** @return {@code null} without an URL of the driver */
    private static @Nullable HikariConfig details(JdbcDatabase database, Login login, @Nullable Properties properties) {
        if (login.url() == null || !database.accepts(login.url())) {
            return null;
        }
        HikariConfig details = new HikariConfig();
        details.setJdbcUrl(login.url());
        if (properties != null) {
            properties
                    .stringPropertyNames()
                    .forEach(name -> details.addDataSourceProperty(name, properties.getProperty(name)));
        }
        if (login.user() != null) {
            details.setUsername(login.user());
            details.getDataSourceProperties().remove("user");
        }
        if (login.password() != null) {
            details.setPassword(login.password());
            details.getDataSourceProperties().remove("password");
        }
        return details;
    }

    /** Loaded only where the application has Agroal. What its connections do in a transaction of JTA is not copied. */
    private static final class OfAgroal {

        static @Nullable HikariConfig details(AgroalDataSource pool, JdbcDatabase database) {
            AgroalConnectionFactoryConfiguration factory =
                    pool.getConfiguration().connectionPoolConfiguration().connectionFactoryConfiguration();
            Class<?> provider = factory.connectionProviderClass();
            if (hasInterceptors(pool) || provider != null && !database.isOfDriver(provider)) {
                return null;
            }
            String password = null;
            for (Object credential : factory.credentials()) {
                if (!(credential instanceof SimplePassword known)) {
                    return null;
                }
                password = known.getWord();
            }
            HikariConfig details = ConnectionDetails.details(
                    database,
                    new Login(
                            factory.jdbcUrl(),
                            factory.principal() == null
                                    ? null
                                    : factory.principal().getName(),
                            password),
                    factory.jdbcProperties());
            if (details != null) {
                details.setConnectionInitSql(factory.initialSql());
            }
            return details;
        }

        /** They may change a new connection. */
        private static boolean hasInterceptors(AgroalDataSource pool) {
            try {
                return !pool.getPoolInterceptors().isEmpty();
            } catch (NullPointerException ex) {
                // Agroal throws it if none was ever set.
                return false;
            }
        }
    }

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
