package io.syncguard.jdbc;

import com.zaxxer.hikari.HikariConfig;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Adds time limits to the properties of a driver, so that a server that disappears silently is noticed. Limits that the
 * application has set stay, and all its hosts are tried.
 */
public final class DriverLimits {

    private static final String CONNECT = "connectTimeout";
    private static final String LOGIN = "loginTimeout";
    private static final String SOCKET = "socketTimeout";

    private static final Pattern HOSTS = Pattern.compile("^[^/]*//([^/?]*)");

    private final HikariConfig details;

    public DriverLimits(HikariConfig details) {
        this.details = details;
    }

    /**
     * Adds the limits of PostgreSQL's driver, which count in seconds. Its limit for a login covers all hosts, so it
     * leaves each of them the time to connect and to answer.
     *
     * @param timeout maximum wait for the server
     */
    public void addForPostgres(Duration timeout) {
        long seconds = Math.max(1, timeout.toSeconds());
        add(CONNECT, seconds);
        add(LOGIN, 2 * hosts() * (secondsOf(CONNECT, seconds) + seconds));
        set(SOCKET, seconds);
    }

    /** Adds those of the drivers of MariaDB and MySQL, which count in milliseconds. */
    public void addForMySql(Duration timeout) {
        add(CONNECT, timeout.toMillis());
        set(SOCKET, timeout.toMillis());
    }

    private void add(String name, long value) {
        if (!details.getDataSourceProperties().containsKey(name) && !inUrl(name).find()) {
            set(name, value);
        }
    }

    private void set(String name, long value) {
        details.addDataSourceProperty(name, String.valueOf(value));
    }

    /** In the URL, the driver prefers it to the property. */
    private long secondsOf(String name, long otherwise) {
        Matcher inUrl = inUrl(name);
        String set = inUrl.find()
                ? inUrl.group(1)
                : String.valueOf(details.getDataSourceProperties().get(name));
        return set.matches("\\d{1,6}") ? Long.parseLong(set) : otherwise;
    }

    private Matcher inUrl(String name) {
        return Pattern.compile("[?&(,]" + name.toLowerCase(Locale.ROOT) + "=([^&),]*)", Pattern.CASE_INSENSITIVE)
                .matcher(String.valueOf(details.getJdbcUrl()));
    }

    private long hosts() {
        Matcher hosts = HOSTS.matcher(String.valueOf(details.getJdbcUrl()));
        String named = hosts.find()
                ? hosts.group(1)
                : String.valueOf(details.getDataSourceProperties().get("serverName"));
        return named.chars().filter(each -> each == ',').count() + 1;
    }
}
