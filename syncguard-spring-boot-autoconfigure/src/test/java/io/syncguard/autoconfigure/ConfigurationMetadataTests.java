package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import io.syncguard.LockSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.LibraryModules;
import java.lang.reflect.Method;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.context.properties.bind.Name;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;

class ConfigurationMetadataTests {

    /** Spring Boot's annotation processor describes them. */
    private static final List<String> OF_EVERY_ENDPOINT = List.of(
            "management.endpoint.syncguard.access",
            "management.endpoint.syncguard.cache.time-to-live",
            "management.endpoint.syncguardconsole.access",
            "management.endpoint.syncguardconsole.cache.time-to-live");

    /** Not a part of the name of a class, of a file, or of a host. */
    private static final Pattern PROPERTY =
            Pattern.compile("(?<![\\w./@-])(?:syncguard|management)(?:\\.(?!sql)[a-z][a-z0-9-]*)+");

    private static List<Map<String, Object>> properties;

    @BeforeAll
    static void read() throws Exception {
        properties = JsonPath.parse(classes()
                        .resolve("META-INF/spring-configuration-metadata.json")
                        .toFile())
                .read("$.properties");
    }

    @Test
    void every_property_is_described() {
        assertThat(properties)
                .extracting(property -> property.get("name"))
                .containsExactlyInAnyOrderElementsOf(Stream.of(
                                names("syncguard", SyncGuardProperties.class),
                                names("syncguard", LocksProperties.class),
                                names("syncguard.locks.*", LockSettings.class),
                                names("syncguard.leader.elections.*", ElectionProperties.class),
                                names("management.endpoint.syncguard", SyncGuardEndpointProperties.class),
                                names("management.info.syncguard", SyncGuardInfoProperties.class),
                                Stream.of("management.health.syncguard.enabled"),
                                OF_EVERY_ENDPOINT.stream())
                        .flatMap(Function.identity())
                        .toList());
    }

    /** Also where conditions, messages and hints write a name. Meters have such names, too. */
    @Test
    void every_property_that_the_code_names_is_described() throws Exception {
        Set<String> described = properties.stream()
                .map(property -> property.get("name").toString())
                .collect(Collectors.toSet());
        Set<String> named = new TreeSet<>();
        for (String module : LibraryModules.NAMES) {
            try (Stream<Path> files = Files.walk(LibraryModules.classesOf(module))) {
                for (Path file : files.filter(each -> each.toString().endsWith(".class"))
                        .filter(each -> !each.toString().contains("micrometer"))
                        .toList()) {
                    PROPERTY.matcher(Files.readString(file, StandardCharsets.ISO_8859_1))
                            .results()
                            .forEach(match -> named.add(match.group()));
                }
            }
        }
        // Spring Boot describes its own.
        named.removeIf(name -> name.startsWith("management.endpoints."));
        assertThat(named)
                .contains("syncguard.enabled", "syncguard.web.problem-details", "syncguard.fence-retention")
                .allSatisfy(name ->
                        assertThat(described).anyMatch(each -> each.equals(name) || each.startsWith(name + ".")));
    }

    @Test
    void the_switch_of_each_part_of_the_actuator_is_described() throws Exception {
        List<String> switches = new ArrayList<>();
        for (String configuration : ImportCandidates.load(AutoConfiguration.class, null)) {
            if (configuration.startsWith("io.syncguard.")) {
                for (Method bean : Class.forName(configuration).getDeclaredMethods()) {
                    MergedAnnotations.from(bean).stream()
                            .filter(each -> each.getType().getSimpleName().startsWith("ConditionalOnEnabled"))
                            .map(ConfigurationMetadataTests::switchOf)
                            .forEach(switches::add);
                }
            }
        }
        assertThat(switches).contains("management.health.syncguard.enabled", "management.info.syncguard.enabled");
        assertThat(properties).extracting(property -> property.get("name")).containsAll(switches);
    }

    /** Such as {@code @ConditionalOnEnabledHealthIndicator("syncguard")}. */
    private static String switchOf(MergedAnnotation<?> condition) {
        String kind = condition.getType().getSimpleName().replaceFirst("ConditionalOnEnabled([A-Z][a-z]+).*", "$1");
        return "management." + kind.toLowerCase(Locale.ROOT) + "." + condition.getString("value") + ".enabled";
    }

    @Test
    void descriptions_are_sentences_without_an_article_and_say_whether_for_a_switch() {
        assertThat(properties).allSatisfy(property -> {
            String description = String.valueOf(property.get("description"));
            assertThat(description)
                    .endsWith(".")
                    .doesNotStartWith("The ")
                    .doesNotStartWith("A ")
                    .doesNotContain("{@");
            if (property.get("type").equals("java.lang.Boolean")) {
                assertThat(description).startsWith("Whether ");
            }
        });
    }

    @Test
    void defaults_are_documented_where_there_are_some() {
        assertThat(properties)
                .filteredOn(property -> !property.containsKey("defaultValue"))
                // They replace what others say only where they are set.
                .filteredOn(property -> !property.get("name").toString().startsWith("syncguard.locks.*."))
                .extracting(property -> property.get("name"))
                .containsExactlyInAnyOrder(
                        "syncguard.backend",
                        "syncguard.console.owner-link",
                        "syncguard.console.trace-link",
                        "syncguard.fences",
                        "syncguard.leader.elections",
                        "syncguard.leader.elections.*.fence-rotation",
                        "syncguard.leader.elections.*.heartbeat",
                        "syncguard.leader.elections.*.lock-manager",
                        "syncguard.leader.elections.*.owner",
                        "syncguard.locks",
                        "syncguard.owner",
                        "management.endpoint.syncguard.hash-secret",
                        "management.endpoint.syncguard.roles",
                        "syncguard.jdbc.schema-script",
                        "syncguard.postgres.schema-script");
    }

    @Test
    void defaults_are_those_that_are_bound() {
        Map<Object, Object> defaults = properties.stream()
                .filter(property -> property.containsKey("defaultValue"))
                .collect(Collectors.toMap(
                        property -> property.get("name"),
                        property -> property.get("defaultValue").toString()));
        assertThat(defaults)
                .containsEntry("syncguard.ttl", "30s")
                .containsEntry("syncguard.wait-time", "5s")
                .containsEntry("syncguard.leader.elections.*.ttl", "15s")
                .containsEntry("syncguard.leader.elections.*.auto-startup", "true")
                .containsEntry("syncguard.postgres.schema-management", "auto");
    }

    @Test
    void hints_name_properties_and_all_their_values() throws Exception {
        List<Map<String, Object>> hints = JsonPath.parse(classes()
                        .resolve("META-INF/spring-configuration-metadata.json")
                        .toFile())
                .read("$.hints");
        assertThat(hints).hasSize(8).allSatisfy(hint -> {
            String name = hint.get("name").toString().replace(".keys", "");
            assertThat(properties).extracting(property -> property.get("name")).contains(name);
        });
        assertThat(valuesOf(hints, "syncguard.postgres.schema-management"))
                .isEqualTo(lowerCase(SchemaManagement.values()));
        assertThat(valuesOf(hints, "syncguard.jdbc.schema-management")).isEqualTo(lowerCase(SchemaManagement.values()));
        assertThat(valuesOf(hints, "syncguard.fencing.schema-management"))
                .isEqualTo(lowerCase(SchemaManagement.values()));
        assertThat(valuesOf(hints, "syncguard.fences")).isEqualTo(lowerCase(FenceSource.values()));
        assertThat(valuesOf(hints, "syncguard.backend")).isEqualTo(List.of("postgres", "jdbc", "redis"));
    }

    private static List<?> valuesOf(List<Map<String, Object>> hints, String name) {
        return hints.stream()
                .filter(hint -> name.equals(hint.get("name")))
                .flatMap(hint -> ((List<?>) hint.get("values")).stream())
                .map(value -> ((Map<?, ?>) value).get("value"))
                .toList();
    }

    private static List<?> lowerCase(Enum<?>[] values) {
        return Arrays.stream(values)
                .map(value -> value.name().toLowerCase(Locale.ROOT))
                .toList();
    }

    private static Stream<String> names(String prefix, Class<?> type) {
        return Arrays.stream(type.getDeclaredConstructors()[0].getParameters()).flatMap(parameter -> {
            Name given = parameter.getAnnotation(Name.class);
            String name = prefix + "." + (given == null ? kebab(parameter.getName()) : given.value());
            return parameter.getType().isRecord() ? names(name, parameter.getType()) : Stream.of(name);
        });
    }

    private static String kebab(String name) {
        return name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }

    private static Path classes() throws URISyntaxException {
        return Path.of(SyncGuardProperties.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
    }
}
