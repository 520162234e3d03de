package io.syncguard.jdbc;

import com.zaxxer.hikari.HikariConfig;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/** Adds to the details of the application what only connections of the library have, where the details can have it. */
record Completion(JdbcDatabase database, Duration timeout, String applicationName) implements Consumer<HikariConfig> {

    @Override
    public void accept(HikariConfig details) {
        Class<?> type = dataSourceClass(details);
        // In a class of others, a property of the same name may have another unit.
        if (type == null || isOfDriver(type)) {
            Set<Object> ofApplication =
                    Set.copyOf(details.getDataSourceProperties().keySet());
            database.complete(details, timeout, applicationName);
            details.getDataSourceProperties()
                    .keySet()
                    .removeIf(name -> type != null && !ofApplication.contains(name) && !has(type, name.toString()));
        }
    }

    /** Returns the class that HikariCP creates, and sets the properties of. */
    private static @Nullable Class<?> dataSourceClass(HikariConfig details) {
        String name = details.getDataSource() == null ? details.getDataSourceClassName() : null;
        ClassLoader classLoader = HikariConfig.class.getClassLoader();
        return name == null || !ClassUtils.isPresent(name, classLoader)
                ? null
                : ClassUtils.resolveClassName(name, classLoader);
    }

    private boolean isOfDriver(Class<?> type) {
        return Stream.<Class<?>>iterate(type, Objects::nonNull, Class::getSuperclass)
                .anyMatch(database::isOfDriver);
    }

    private static boolean has(Class<?> type, String property) {
        String setter = "set" + StringUtils.capitalize(property);
        return Stream.of(type.getMethods())
                .anyMatch(method -> method.getName().equals(setter) && method.getParameterCount() == 1);
    }
}
