package io.syncguard.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A role of a test database that has only the rights that {@code docs/security.md} lists. The tables are in the schema
 * {@code public}, whose rights the tests revoke from all other roles.
 */
public final class DocumentedRights {

    private static final String PASSWORD = "secret";

    private static final Pattern GRANT = Pattern.compile("GRANT (.*) ON (.*) TO \\w+");

    private final String url;
    private final JdbcTemplate jdbc;
    private final String database;
    private final String role;

    private DocumentedRights(String url) {
        this.url = url;
        this.jdbc = new JdbcTemplate(PostgresServer.dataSource(url));
        this.database = jdbc.queryForObject("SELECT current_database()", String.class);
        this.role = "limited_in_" + database;
    }

    /** Creates a role without any right in this database. */
    public static DocumentedRights noneIn(String url) {
        DocumentedRights rights = new DocumentedRights(url);
        rights.jdbc.execute("REVOKE ALL ON DATABASE " + rights.database + " FROM PUBLIC");
        rights.jdbc.execute("REVOKE ALL ON SCHEMA public FROM PUBLIC");
        rights.jdbc.execute("REVOKE ALL ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC");
        rights.jdbc.execute("CREATE ROLE " + rights.role + " LOGIN PASSWORD '" + PASSWORD + "'");
        return rights;
    }

    /** Grants the rights in these samples. */
    public DocumentedRights grant(String... samples) {
        Stream.of(samples).flatMap(sample -> of(sample).stream()).forEach(this::grant);
        return this;
    }

    public void grant(Right right) {
        jdbc.execute("GRANT " + right.privilege() + " ON " + object(right) + " TO " + role);
    }

    public void revoke(Right right) {
        jdbc.execute("REVOKE " + right.privilege() + " ON " + object(right) + " FROM " + role);
    }

    /** Unpooled connections of the role. */
    public DataSource dataSource() {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setURL(url);
        dataSource.setUser(role);
        dataSource.setPassword(PASSWORD);
        return dataSource;
    }

    public String role() {
        return role;
    }

    public String password() {
        return PASSWORD;
    }

    /** One privilege on one object, in the words of the manual. */
    public record Right(String privilege, String object) {

        @Override
        public String toString() {
            return privilege + " on " + object.replace("locking.", "");
        }
    }

    /** The single rights in one sample of the manual. */
    public static List<Right> of(String sample) {
        Matcher region =
                Pattern.compile("(?s)-- sample: " + sample + "\\R(.*?)-- end").matcher(script());
        if (!region.find()) {
            throw new IllegalArgumentException(sample);
        }
        List<Right> rights = new ArrayList<>();
        Matcher grant = GRANT.matcher(region.group(1));
        while (grant.find()) {
            for (String privilege : grant.group(1).split(", ")) {
                rights.add(new Right(privilege, grant.group(2)));
            }
        }
        return rights;
    }

    private String object(Right right) {
        return right.object()
                .replace("locking.", "")
                .replace("SCHEMA locking", "SCHEMA public")
                .replace("DATABASE shop", "DATABASE " + database);
    }

    private static String script() {
        try (InputStream script = DocumentedRights.class.getResourceAsStream("/io/syncguard/docs/rights.sql")) {
            return new String(Objects.requireNonNull(script).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
