package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import java.lang.reflect.Method;
import java.security.Principal;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;
import org.postgresql.ds.common.BaseDataSource;
import org.springframework.util.ReflectionUtils;

/**
 * Reads all that a {@code DataSource} uses for a connection: a connection with only a part of its driver properties
 * could be encrypted less than those of the application. Calls the methods of pools by name, so that no pool has to be
 * on the class path.
 */
final class PoolProperties {

    /** Connects with what its methods show, and with nothing else. A subclass may do otherwise. */
    private static final Set<String> KNOWN = Set.of(
            "org.apache.tomcat.jdbc.pool.DataSource",
            "org.apache.commons.dbcp2.BasicDataSource",
            "com.mchange.v2.c3p0.ComboPooledDataSource",
            "org.vibur.dbcp.ViburDBCPDataSource",
            "org.springframework.jdbc.datasource.DriverManagerDataSource",
            "org.springframework.jdbc.datasource.SimpleDriverDataSource",
            "org.springframework.jdbc.datasource.SingleConnectionDataSource");

    private static final String AGROAL = "io.agroal.pool.DataSource";

    /** If one of these has a value, the URL and the driver properties are not all that counts. */
    private static final List<String> OTHER_WAYS = List.of(
            "getDataSource",
            "getDataSourceJNDI",
            "getExternalDataSource",
            "getConnectionFactoryClassName",
            "getDriverClassLoader",
            "getOverrideDefaultUser",
            "getOverrideDefaultPassword");

    private static final List<String> DRIVER_PROPERTIES =
            List.of("getDbProperties", "getDriverProperties", "getConnectionProperties", "getProperties");

    private static final List<String> FIRST_STATEMENTS = List.of("getInitSQL", "getConnectionInitSqls");

    private PoolProperties() {}

    /** Returns the details of a connection; {@code null} if there may be others that the class does not show. */
    static @Nullable HikariConfig of(DataSource source) {
        try {
            if (source instanceof BaseDataSource driver) {
                return of(driver);
            }
            if (typeOf(source).equals(AGROAL)) {
                return ofAgroal(source);
            }
            return KNOWN.contains(typeOf(source)) && hasOneWay(source) ? detailsOf(source) : null;
        } catch (ReflectiveOperationException | RuntimeException ex) {
            return null;
        }
    }

    /** Returns the details of a {@code DataSource} of the driver, whose URL has all of its properties. */
    static @Nullable HikariConfig of(BaseDataSource driver) {
        if (!typeOf(driver).startsWith("org.postgresql.")) {
            return null;
        }
        HikariConfig details = new HikariConfig();
        details.setJdbcUrl(driver.getUrl());
        details.setUsername(driver.getUser());
        details.setPassword(driver.getPassword());
        return details;
    }

    /** What its connections do in a transaction of JTA is not copied. */
    private static @Nullable HikariConfig ofAgroal(Object pool) throws ReflectiveOperationException {
        Object factory = pool;
        for (String part :
                List.of("getConfiguration", "connectionPoolConfiguration", "connectionFactoryConfiguration")) {
            factory = Objects.requireNonNull(call(factory, part));
        }
        String url = text(factory, "jdbcUrl");
        Object provider = call(factory, "connectionProviderClass");
        if (url == null
                || !url.startsWith("jdbc:postgresql:")
                || provider instanceof Class<?> type && !type.getName().startsWith("org.postgresql.")) {
            return null;
        }
        HikariConfig details = new HikariConfig();
        details.setJdbcUrl(url);
        if (call(factory, "principal") instanceof Principal user) {
            details.setUsername(user.getName());
        }
        for (Object credential : call(factory, "credentials") instanceof Collection<?> all ? all : List.of()) {
            String password = text(credential, "getWord");
            if (password == null) {
                return null;
            }
            details.setPassword(password);
        }
        if (call(factory, "jdbcProperties") instanceof Properties properties) {
            properties.forEach((key, value) -> details.addDataSourceProperty(String.valueOf(key), value));
        }
        details.setConnectionInitSql(text(factory, "initialSql"));
        return details;
    }

    /** The name of the class, without a subclass that only configures it. */
    private static String typeOf(Object source) {
        Class<?> type = source.getClass();
        while (type.isAnonymousClass() && type.getDeclaredMethods().length == 0) {
            type = type.getSuperclass();
        }
        return type.getName();
    }

    private static boolean hasOneWay(Object pool) throws ReflectiveOperationException {
        for (String way : OTHER_WAYS) {
            if (call(pool, way) != null) {
                return false;
            }
        }
        Object connector = call(pool, "getConnector");
        return connector == null || connector.getClass().getName().startsWith("org.vibur.dbcp.");
    }

    private static @Nullable HikariConfig detailsOf(Object pool) throws ReflectiveOperationException {
        HikariConfig details = new HikariConfig();
        String url = text(pool, "getUrl", "getJdbcUrl");
        Object instance = call(pool, "getDriver");
        String driver = instance == null
                ? text(pool, "getDriverClassName", "getDriverClass")
                : instance.getClass().getName();
        Properties properties = driverProperties(pool);
        if (url == null
                || !url.startsWith("jdbc:postgresql:")
                || driver != null && !driver.equals(Driver.class.getName())
                || properties == null) {
            return null;
        }
        if (driver != null && !isOfDriverManager(pool)) {
            details.setDriverClassName(driver);
        }
        details.setJdbcUrl(url);
        login(details, pool);
        properties.stringPropertyNames().stream()
                .filter(key -> !(key.equals("user") && details.getUsername() != null))
                .filter(key -> !(key.equals("password") && details.getPassword() != null))
                .forEach(key -> details.addDataSourceProperty(key, properties.getProperty(key)));
        first(details, pool);
        return details;
    }

    /** c3p0 only loads the named class, and the DriverManager may prefer another driver, which may do more. */
    private static boolean isOfDriverManager(Object pool) throws ReflectiveOperationException {
        return Boolean.FALSE.equals(call(pool, "isForceUseNamedDriverClass"));
    }

    /** Reads user and password, which Tomcat's pool reveals only in its properties. */
    private static void login(HikariConfig details, Object pool) throws ReflectiveOperationException {
        Object properties = call(pool, "getPoolProperties");
        Object login = properties == null ? pool : properties;
        details.setUsername(text(login, "getUsername", "getUser"));
        details.setPassword(text(login, "getPassword"));
    }

    /** Returns {@code null} if the pool does not show them. */
    private static @Nullable Properties driverProperties(Object pool) throws ReflectiveOperationException {
        for (String name : DRIVER_PROPERTIES) {
            Method method = ReflectionUtils.findMethod(pool.getClass(), name);
            // Tomcat's pool has a text of the same name.
            if (method != null && method.getReturnType() == Properties.class) {
                return call(pool, name) instanceof Properties driver ? driver : new Properties();
            }
        }
        return null;
    }

    private static void first(HikariConfig details, Object pool) throws ReflectiveOperationException {
        for (String name : FIRST_STATEMENTS) {
            String statements = statements(call(pool, name));
            if (!statements.isBlank()) {
                details.setConnectionInitSql(statements);
            }
        }
        String schema = text(pool, "getDefaultSchema", "getSchema");
        if (schema != null) {
            details.setSchema(schema);
        }
    }

    private static String statements(@Nullable Object value) {
        return value instanceof Collection<?> several
                ? several.stream().map(String::valueOf).collect(Collectors.joining(";\n"))
                : value instanceof String one ? one : "";
    }

    /** Returns the first text that one of these methods returns. */
    private static @Nullable String text(Object target, String... methods) throws ReflectiveOperationException {
        for (String method : methods) {
            if (call(target, method) instanceof String text && !text.isEmpty()) {
                return text;
            }
        }
        return null;
    }

    /**
     * Calls a method even if it is not public, because DBCP2 hides that of its properties.
     *
     * @return {@code null} also if there is no such method
     */
    private static @Nullable Object call(Object target, String name) throws ReflectiveOperationException {
        Method method = ReflectionUtils.findMethod(target.getClass(), name);
        if (method == null) {
            return null;
        }
        ReflectionUtils.makeAccessible(method);
        return method.invoke(target);
    }
}
