package io.syncguard.check;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.check.Finding.Part;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** What the databases have in common. */
abstract class JdbcServer implements Server {

    /** An address may lead to several servers in turn: this many connections meet them. */
    private static final int CONNECTIONS = 8;

    private final Login login;
    private final HikariDataSource pool = new HikariDataSource();
    private final JdbcTemplate jdbc = new JdbcTemplate(pool);

    /** The URL of the driver, with the user and the password of the command line, if there are some. */
    record Login(String url, String user, String password) {

        SingleConnectionDataSource connect() {
            SingleConnectionDataSource one = new SingleConnectionDataSource(url, true);
            one.setConnectionProperties(properties());
            return one;
        }

        private Properties properties() {
            Properties properties = new Properties();
            if (!user.isEmpty()) {
                properties.setProperty("user", user);
            }
            if (!password.isEmpty()) {
                properties.setProperty("password", password);
            }
            return properties;
        }
    }

    JdbcServer(Login login) {
        this.login = login;
        pool.setJdbcUrl(login.url());
        pool.setDataSourceProperties(login.properties());
        pool.setMaximumPoolSize(16);
        pool.setMinimumIdle(1);
        pool.setConnectionTimeout(10_000);
    }

    final Login login() {
        return login;
    }

    final HikariDataSource pool() {
        return pool;
    }

    final JdbcTemplate jdbc() {
        return jdbc;
    }

    /** Returns the first column of the answer. */
    final List<String> texts(String query, Object... arguments) {
        return jdbc.query(query, (row, number) -> String.valueOf(row.getString(1)), arguments);
    }

    /** Returns the only number of the answer. */
    final long number(String query, Object... arguments) {
        return Objects.requireNonNull(jdbc.queryForObject(query, Long.class, arguments));
    }

    /** Returns the value in words, or why the server does not tell it. */
    final String value(String query) {
        try {
            return String.valueOf(jdbc.queryForObject(query, String.class));
        } catch (DataAccessException ex) {
            return "?";
        }
    }

    /**
     * Asks several connections which server they reach.
     *
     * @param identity a query of one text, which differs between servers
     * @param writable a query that tells whether the server takes writes
     */
    final List<Finding> lookForOthers(String identity, String writable) {
        Set<String> servers = new LinkedHashSet<>();
        int readers = 0;
        for (int i = 0; i < CONNECTIONS; i++) {
            SingleConnectionDataSource one = login.connect();
            try {
                JdbcTemplate other = new JdbcTemplate(one);
                servers.add(String.valueOf(other.queryForObject(identity, String.class)));
                readers += Boolean.TRUE.equals(other.queryForObject(writable, Boolean.class)) ? 0 : 1;
            } finally {
                one.destroy();
            }
        }
        List<Finding> findings = new ArrayList<>();
        if (readers > 0) {
            findings.add(Finding.broken(
                    Part.LOOK,
                    "primary server",
                    readers + " of " + CONNECTIONS + " connections reached a server that takes no writes",
                    "Use an address of the primary alone, such as targetServerType=primary in a URL with several"
                            + " hosts, or the writer endpoint of a cloud"));
        } else {
            findings.add(
                    Finding.holds(Part.LOOK, "primary server", "all connections reach a server that takes writes"));
        }
        if (servers.size() > 1) {
            findings.add(Finding.broken(
                    Part.LOOK,
                    "one server",
                    "the address leads to " + servers.size()
                            + " servers in turn: a lock of one is unknown to the others",
                    "Use an address that always leads to the same server"));
        } else {
            findings.add(Finding.holds(Part.LOOK, "one server", "all connections reach the same server"));
        }
        return findings;
    }

    @Override
    public List<String> secrets() {
        List<String> secrets = new ArrayList<>(List.of(login.user(), login.password()));
        for (String part : login.url().replaceFirst("^jdbc:[a-z0-9]+:", "").split("[/?&;,:@]")) {
            secrets.add(part.replaceFirst("^[A-Za-z]+=", ""));
        }
        return secrets;
    }

    /** The host and the port in the URL; null if a proxy cannot stand in front of them. */
    static @Nullable String addressIn(String url, int usualPort) {
        try {
            URI address = URI.create(url.replaceFirst("^jdbc:", "").replaceFirst("^h2:", ""));
            if (address.getHost() == null || url.matches(".*(verify-full|verify-ca|sslmode=verify).*")) {
                return null;
            }
            return address.getHost() + ":" + (address.getPort() < 0 ? usualPort : address.getPort());
        } catch (IllegalArgumentException ex) {
            // A URL with several hosts.
            return null;
        }
    }

    /** The URL with another host and port. */
    static String through(String url, String address) {
        return url.replaceFirst("//[^/?;]*", "//" + address);
    }

    @Override
    public long roundTrip() {
        long from = System.nanoTime();
        jdbc.queryForObject("SELECT 1", Integer.class);
        return System.nanoTime() - from;
    }

    @Override
    public void close() {
        pool.close();
    }
}
