package io.syncguard.check;

import io.syncguard.check.JdbcServer.Login;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;

/** Finds the kind of server by its URL. */
final class Address {

    private Address() {}

    /**
     * Connects to the server.
     *
     * @param url of JDBC ({@code postgresql}, {@code mariadb}, {@code mysql}, {@code h2}) or of Redis ({@code redis},
     *     {@code rediss}, {@code redis-cluster}, {@code redis-sentinel})
     * @param user empty if the URL has one, or none is needed
     * @param password empty if the URL has one, or none is needed
     * @throws IllegalArgumentException if it is another URL
     */
    static Server connect(String url, String user, String password) {
        if (url.startsWith("jdbc:postgresql:")) {
            return new PostgresServer(new Login(url, user, password));
        }
        if (url.startsWith("jdbc:mariadb:") || url.startsWith("jdbc:h2:")) {
            return new PortableServer(new Login(url, user, password));
        }
        if (url.startsWith("jdbc:mysql:")) {
            // The driver of MariaDB speaks to MySQL, too.
            return new PortableServer(new Login(url.replaceFirst("jdbc:mysql:", "jdbc:mariadb:"), user, password));
        }
        if (url.startsWith("redis://") || url.startsWith("rediss://")) {
            // Spring Boot takes the login of this property alone.
            return new RedisServer(redis("spring.data.redis.url", withLogin(url, user, password), "", ""));
        }
        if (url.startsWith("redis-cluster://")) {
            return new RedisServer(
                    redis("spring.data.redis.cluster.nodes", URI.create(url).getAuthority(), user, password));
        }
        if (url.startsWith("redis-sentinel://")) {
            URI sentinel = URI.create(url);
            Map<String, String> settings =
                    redis("spring.data.redis.sentinel.nodes", sentinel.getAuthority(), user, password);
            settings.put("spring.data.redis.sentinel.master", sentinel.getPath().replaceFirst("^/", ""));
            return new RedisServer(settings);
        }
        throw new IllegalArgumentException(
                "The address has to begin with jdbc:postgresql:, jdbc:mariadb:, jdbc:mysql:, jdbc:h2:, redis://,"
                        + " rediss://, redis-cluster:// or redis-sentinel://");
    }

    /** Adds what the URL lacks. */
    private static String withLogin(String url, String user, String password) {
        String inUrl = URI.create(url).getRawUserInfo();
        if (user.isEmpty() && password.isEmpty() || inUrl != null && inUrl.contains(":")) {
            return url;
        }
        String login = (inUrl == null ? escaped(user) : inUrl) + ":" + escaped(password) + "@";
        return url.replaceFirst("//([^@/]*@)?", Matcher.quoteReplacement("//" + login));
    }

    private static String escaped(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static Map<String, String> redis(String property, String value, String user, String password) {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put(property, value);
        if (!user.isEmpty()) {
            settings.put("spring.data.redis.username", user);
        }
        if (!password.isEmpty()) {
            settings.put("spring.data.redis.password", password);
        }
        return settings;
    }
}
