package io.syncguard.postgres;

import com.zaxxer.hikari.HikariConfig;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.util.StringUtils;

/**
 * The name of the library's connections, for an administrator of the server: {@code syncguard}, and the name of the
 * application's own connections, otherwise its {@code spring.application.name}.
 */
final class PostgresConnectionName {

    private static final String PROPERTY = "ApplicationName";

    private static final Pattern IN_URL = Pattern.compile("(?<=[?&])" + PROPERTY + "=([^&]*)&?");

    /** PostgreSQL truncates a longer name. */
    private static final int LENGTH = 63;

    private PostgresConnectionName() {}

    /** Adds the name. Connections that the application lends keep theirs. */
    static void addTo(HikariConfig details, String application) {
        if (details.getDataSource() == null && details.getDataSourceJNDI() == null) {
            details.addDataSourceProperty(PROPERTY, onPostgres(takenFrom(details, application)));
        }
    }

    /** Removes the configured name, and returns it. The name in the URL takes precedence, as in the driver. */
    private static String takenFrom(HikariConfig details, String otherwise) {
        Properties properties = details.getDataSourceProperties();
        // The property of the setter, if a DataSource of the driver is configured by its class.
        Object ofSetter = properties.remove(StringUtils.uncapitalize(PROPERTY));
        String known = properties.getProperty(PROPERTY, ofSetter == null ? otherwise : ofSetter.toString());
        String url = details.getJdbcUrl();
        Matcher inUrl = IN_URL.matcher(url == null ? "" : url);
        if (inUrl.find()) {
            known = URLDecoder.decode(inUrl.group(1), StandardCharsets.UTF_8);
            details.setJdbcUrl(inUrl.replaceAll("").replaceFirst("[?&]$", ""));
        }
        return known;
    }

    /** PostgreSQL would show other characters as their bytes. */
    private static String onPostgres(String application) {
        String name = ("syncguard " + application).strip().replaceAll("[^ -~]", "?");
        return name.substring(0, Math.min(LENGTH, name.length()));
    }
}
