package io.syncguard.postgres;

import com.zaxxer.hikari.HikariConfig;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;
import java.util.stream.Stream;
import org.postgresql.Driver;
import org.postgresql.PGProperty;
import org.springframework.util.ClassUtils;

/**
 * Adds {@link PromptSocketFactory} to the connection for wake-ups, where it is certain that it replaces no socket
 * factory of the application: that one may be a tunnel, without which the password would leave in clear.
 */
final class WakeUpSocket {

    /** Defaults of the driver, with a lower priority than our property. */
    private static final String DEFAULTS = "org/postgresql/driverconfig.properties";

    private static final String NAME = PGProperty.SOCKET_FACTORY.getName();

    private WakeUpSocket() {}

    static void addTo(HikariConfig details) {
        addTo(details, Driver.class.getClassLoader());
    }

    /** @param driver sees what the driver sees */
    static void addTo(HikariConfig details, ClassLoader driver) {
        if (connectsByUrl(details)
                // In some containers the driver's class loader does not see the application's classes.
                && ClassUtils.isVisible(PromptSocketFactory.class, driver)
                && driver.getResource(DEFAULTS) == null
                && hasNoFactory(details)) {
            details.addDataSourceProperty(NAME, PromptSocketFactory.class.getName());
        }
    }

    /** The constructor of a {@code DataSource} may set a factory. */
    private static boolean connectsByUrl(HikariConfig details) {
        return details.getJdbcUrl() != null
                && details.getDataSource() == null
                && details.getDataSourceClassName() == null;
    }

    /** Asks the driver, which also reads service files. */
    private static boolean hasNoFactory(HikariConfig details) {
        try {
            Properties properties = new Properties();
            details.getDataSourceProperties().forEach((key, value) -> properties.put(key, String.valueOf(value)));
            return isOfPostgres(details)
                    && Driver.parseURL(details.getJdbcUrl(), properties) != null
                    && Stream.of(new Driver().getPropertyInfo(details.getJdbcUrl(), properties))
                            .noneMatch(each -> each.name.equals(NAME) && each.value != null);
        } catch (SQLException ex) {
            return false;
        }
    }

    /** Another driver may add a factory. */
    private static boolean isOfPostgres(HikariConfig details) throws SQLException {
        String driver = details.getDriverClassName();
        return Driver.class
                .getName()
                .equals(
                        driver == null
                                ? DriverManager.getDriver(details.getJdbcUrl())
                                        .getClass()
                                        .getName()
                                : driver);
    }
}
