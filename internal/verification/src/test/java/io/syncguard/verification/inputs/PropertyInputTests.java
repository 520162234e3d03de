package io.syncguard.verification.inputs;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockSetupException;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.RedisServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindException;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.core.env.MapPropertySource;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A bad value of any property fails the start by the name of that property, before anything is created in the database.
 * The properties are those of the metadata, so that a new one is not forgotten.
 */
@Timeout(3600)
class PropertyInputTests {

    private static final String ELECTION = "syncguard.leader.elections.settlement.";

    /** One names a bean, which is there after the store; the other belongs to a guard without locks, too. */
    private static final List<String> CHECKED_LATER = List.of(ELECTION + "lock-manager", "syncguard.fencing.table");

    /** A start takes time. A long run has all properties and values. */
    private static final int PROPERTIES_IN_A_BUILD = 3;

    private static final List<String> TIMES =
            List.of("soon", "-1s", "PT9223372036854775807S", "99999999999999999999d", "1 s; DROP TABLE a");

    /** Illegal values of the properties whose types do not determine them. */
    private static final Map<String, List<String>> TEXTS = new TreeMap<>(Map.of(
            "syncguard.owner",
            List.of("x".repeat(513), "\ud83d"),
            "syncguard.postgres.locks-table",
            List.of("x'; DROP TABLE orders; --", "a b", "", "pg_x", "x".repeat(49), "a.b.c", "\"a\"", "a\n"),
            "syncguard.postgres.fence-counters-table",
            List.of("x'; DROP TABLE orders; --", "", "syncguard_locks", "SYNCGUARD_LOCKS_shared", "a\u0000"),
            "syncguard.postgres.schema-script",
            List.of("/nowhere/schema.sql"),
            "syncguard.jdbc.schema-script",
            List.of("/nowhere/schema.sql"),
            "syncguard.redis.key-prefix",
            List.of("p".repeat(1000), "no hash tag for shards"),
            "syncguard.fencing.table",
            List.of("x'; DROP TABLE orders; --", "", "x".repeat(49)),
            "syncguard.leader.elections",
            List.of("x"),
            "syncguard.leader.elections.settlement.owner",
            List.of("x".repeat(513)),
            "syncguard.aop.order",
            List.of("first", "2147483648")));

    private final InputSettings settings = InputSettings.of(0, 0);
    private final Inputs inputs = new Inputs(settings.seed());
    private final String url = PostgresServer.newDatabaseUrl();
    private final JdbcTemplate jdbc = new JdbcTemplate(PostgresServer.dataSource(url));

    @Test
    void a_bad_value_fails_the_start_by_the_name_of_its_property_and_touches_nothing() throws Exception {
        List<String> violations = new ArrayList<>();
        int starts = 0;
        Map<String, List<String>> badValues = badValues();
        List<String> properties = new ArrayList<>(badValues.keySet());
        if (!settings.isLong()) {
            Collections.shuffle(properties, new Random(settings.seed()));
            properties = properties.subList(0, PROPERTIES_IN_A_BUILD);
        }
        for (String property : properties) {
            for (String value :
                    settings.isLong() ? badValues.get(property) : List.of(inputs.oneOf(badValues.get(property)))) {
                starts++;
                String problem = start(property, value);
                if (!problem.isEmpty()) {
                    violations.add(property + "=" + value + ": " + problem);
                }
                if (!relations().isEmpty()) {
                    if (!CHECKED_LATER.contains(property)) {
                        violations.add(property + "=" + value + ": has created " + relations());
                    }
                    jdbc.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
                }
            }
        }
        System.out.println("PropertyInputTests with " + settings.command() + ": " + starts + " starts of "
                + properties.size() + " properties");
        assertThat(violations).as(settings.command()).isEmpty();
    }

    private List<String> relations() {
        return jdbc.queryForList(
                "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'",
                String.class);
    }

    private String start(String property, String value) {
        Map<String, Object> properties = new TreeMap<>(Map.of(
                "spring.main.banner-mode", "off",
                "spring.main.log-startup-info", "false",
                "logging.level.root", "off",
                "spring.datasource.url", url,
                "spring.data.redis.url", RedisServer.url(),
                "syncguard.backend", "postgres,redis",
                "syncguard.redis.shards", "2",
                "syncguard.fencing.enabled", "true"));
        if (property.startsWith("syncguard.jdbc.")) {
            properties.put("syncguard.backend", "jdbc");
        }
        properties.put(property, value);
        try {
            new SpringApplicationBuilder(Application.class)
                    .web(WebApplicationType.NONE)
                    .initializers(context -> context.getEnvironment()
                            .getPropertySources()
                            .addFirst(new MapPropertySource("test", properties)))
                    .run()
                    .close();
            return "the application starts";
        } catch (RuntimeException ex) {
            return isNamed(property, ex) ? "" : ex.toString();
        }
    }

    private static boolean isNamed(String property, Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if ((each instanceof LockSetupException
                            || each instanceof ConfigurationPropertiesBindException
                            || each.getClass().getName().endsWith("BindException"))
                    && isNamed(property, String.valueOf(each.getMessage()))) {
                return true;
            }
        }
        return false;
    }

    /** A setting of an election is named by the election, and in words. */
    private static boolean isNamed(String property, String message) {
        return message.contains(property)
                || property.startsWith(ELECTION)
                        && message.contains(ELECTION.substring(0, ELECTION.length() - 1) + ":");
    }

    private static Map<String, List<String>> badValues() throws IOException {
        Map<String, List<String>> found = new TreeMap<>();
        for (Map<?, ?> property : metadata()) {
            String name = String.valueOf(property.get("name")).replace("*", "settlement");
            String type = String.valueOf(property.get("type"));
            if (name.startsWith("syncguard.")) {
                found.put(name, TEXTS.getOrDefault(name, badValuesOf(type)));
            }
        }
        assertThat(found).hasSizeGreaterThan(30);
        return found;
    }

    private static List<String> badValuesOf(String type) {
        return switch (type) {
            case "java.time.Duration" -> TIMES;
            case "java.lang.Boolean" -> List.of("maybe", "2");
            case "java.lang.Integer" -> List.of("many", "-1", "99999999999");
            // An enumeration.
            default -> List.of("no such value", "'; DROP TABLE a; --");
        };
    }

    private static List<Map<?, ?>> metadata() throws IOException {
        List<Map<?, ?>> all = new ArrayList<>();
        for (URL each : Collections.list(PropertyInputTests.class
                .getClassLoader()
                .getResources("META-INF/spring-configuration-metadata.json"))) {
            try (InputStream file = each.openStream()) {
                Map<String, Object> read = JsonParserFactory.getJsonParser().parseMap(new String(file.readAllBytes()));
                ((List<?>) read.get("properties")).forEach(property -> all.add((Map<?, ?>) property));
            }
        }
        return all;
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Application {}
}
