package io.syncguard.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.List;
import java.util.Properties;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ReflectionUtils;

/**
 * Reads what the pools of Tomcat, DBCP2, c3p0 and others use for a connection beside its URL and its user, and the
 * password, which Tomcat's pool reveals only there. Calls their methods by name, so that no pool has to be on the class
 * path.
 */
final class PoolProperties {

    private static final List<String> DRIVER_PROPERTIES =
            List.of("getDbProperties", "getConnectionProperties", "getProperties");

    private static final List<String> FIRST_STATEMENTS = List.of("getInitSQL", "getConnectionInitSqls");

    private PoolProperties() {}

    /** Returns URL, user and password, as far as the pool reveals them. */
    static HikariConfig login(Object pool) {
        HikariConfig details = new HikariConfig();
        details.setJdbcUrl(text(pool, "getUrl", "getJdbcUrl"));
        details.setUsername(text(pool, "getUsername", "getUser"));
        details.setPassword(text(pool, "getPassword"));
        return details;
    }

    static void complete(HikariConfig details, Object pool) {
        Object properties = call(pool, "getPoolProperties");
        if (properties != null) {
            details.setUsername(text(properties, "getUsername"));
            details.setPassword(text(properties, "getPassword"));
        }
        for (String name : DRIVER_PROPERTIES) {
            if (call(pool, name) instanceof Properties driver) {
                driver.stringPropertyNames().stream()
                        .filter(key -> details.getUsername() == null || !key.equals("user") && !key.equals("password"))
                        .forEach(key -> details.addDataSourceProperty(key, driver.getProperty(key)));
                break;
            }
        }
        FIRST_STATEMENTS.stream()
                .map(name -> statements(call(pool, name)))
                .filter(statements -> !statements.isBlank())
                .forEach(details::setConnectionInitSql);
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
    private static @Nullable String text(Object target, String... methods) {
        for (String method : methods) {
            if (call(target, method) instanceof String text) {
                return text;
            }
        }
        return null;
    }

    /** Calls a method even if it is not public, because DBCP2 hides that of its properties. */
    private static @Nullable Object call(Object target, String name) {
        Method method = ReflectionUtils.findMethod(target.getClass(), name);
        if (method == null) {
            return null;
        }
        try {
            ReflectionUtils.makeAccessible(method);
            return method.invoke(target);
        } catch (ReflectiveOperationException | RuntimeException ex) {
            return null;
        }
    }
}
