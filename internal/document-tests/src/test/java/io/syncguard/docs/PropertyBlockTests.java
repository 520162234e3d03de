package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.syncguard.LockTemplate;
import io.syncguard.testing.MariaDbServer;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.RedisServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.boot.env.PropertiesPropertySourceLoader;
import org.springframework.boot.env.PropertySourceLoader;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.FileSystemResource;
import org.springframework.util.ClassUtils;

/** Each block of properties in the documents is a file with which an application starts. */
@Timeout(120)
class PropertyBlockTests {

    /** A changelog, which LiquibaseTests run. */
    private static final String CHANGELOG = "- changeSet:";

    /** A setting of the library with its value, between backticks. */
    private static final Pattern SETTING =
            Pattern.compile("`(?:--)?((?:management\\.\\w+\\.)?syncguard\\.[\\w.-]+)=([^`…]+)`");

    @TempDir
    private Path directory;

    @ParameterizedTest
    @MethodSource("files")
    void an_application_starts_with_the_block_as_its_file(DocumentBlock block) throws IOException {
        Path file = fileOf(block);
        SpringApplicationBuilder application = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.SERVLET)
                .properties("server.port=0", "DB_PASSWORD=secret", "spring.config.location=" + file.toUri());

        try (ConfigurableApplicationContext started = application.run(servers(block))) {
            assertThat(started.getBean(LockTemplate.class)
                            .<Boolean, RuntimeException>execute("order:42", lock -> lock.isHeld()))
                    .isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("files")
    void each_property_exists_and_has_a_value_of_its_type(DocumentBlock block) throws IOException {
        PropertySourceLoader loader =
                block.language().equals("yaml") ? new YamlPropertySourceLoader() : new PropertiesPropertySourceLoader();
        Map<String, String> known = types();

        for (PropertySource<?> source : loader.load("block", new FileSystemResource(fileOf(block)))) {
            for (String name : ((EnumerablePropertySource<?>) source).getPropertyNames()) {
                String type = typeOf(name, known);
                Object value = source.getProperty(name);
                assertThatCode(() -> convert(value, type)).as(name).doesNotThrowAnyException();
            }
        }
    }

    @Test
    void each_property_in_a_sentence_exists_and_has_a_value_of_its_type() throws IOException {
        Map<String, String> known = types();
        List<MatchResult> settings = new ArrayList<>();
        for (Path document : DocumentBlock.documents()) {
            SETTING.matcher(Files.readString(document)).results().forEach(settings::add);
        }

        assertThat(settings).hasSizeGreaterThan(20).allSatisfy(setting -> {
            String type = typeOf(setting.group(1), known);
            assertThatCode(() -> convert(setting.group(2), type))
                    .as(setting.group())
                    .doesNotThrowAnyException();
        });
    }

    static Stream<DocumentBlock> files() {
        return DocumentBlock.in("properties", "yaml").stream()
                .filter(block -> !block.text().startsWith(CHANGELOG));
    }

    private Path fileOf(DocumentBlock block) throws IOException {
        String ending = block.language().equals("yaml") ? ".yml" : ".properties";
        return Files.writeString(directory.resolve("application" + ending), block.text());
    }

    /** The addresses of the servers are all that a reader has to change. */
    private static String[] servers(DocumentBlock block) {
        String database = block.text().contains("jdbc:mariadb:")
                ? MariaDbServer.newDatabaseUrl()
                : PostgresServer.newDatabaseUrl();
        return new String[] {
            "--spring.datasource.url=" + database,
            "--spring.data.redis.url=" + RedisServer.url(),
            "--syncguard.redis.key-prefix=" + RedisServer.newPrefix()
        };
    }

    private static String typeOf(String name, Map<String, String> known) {
        return known.entrySet().stream()
                .filter(property -> isNamed(name, property.getKey()))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElseThrow(() -> new AssertionError("no such property: " + name));
    }

    /** Whether the name of the metadata, in which an asterisk stands for any part, is that of the property. */
    private static boolean isNamed(String property, String known) {
        ConfigurationPropertyName name = ConfigurationPropertyName.adapt(property, '.');
        List<String> parts =
                List.of(known.replace("-", "").toLowerCase(Locale.ROOT).split("\\."));
        return name.getNumberOfElements() == parts.size()
                && IntStream.range(0, parts.size())
                        .allMatch(part -> parts.get(part).equals("*")
                                || parts.get(part).equals(name.getElement(part, Form.UNIFORM)));
    }

    private static void convert(Object value, String type) {
        Class<?> target = ClassUtils.resolveClassName(type.replaceFirst("<.*", ""), null);
        if (!value.toString().startsWith("${")) {
            ApplicationConversionService.getSharedInstance().convert(value.toString(), target);
        }
    }

    private static Map<String, String> types() throws IOException {
        Map<String, String> types = new TreeMap<>();
        for (URL metadata : Collections.list(PropertyBlockTests.class
                .getClassLoader()
                .getResources("META-INF/spring-configuration-metadata.json"))) {
            properties(metadata)
                    .forEach(property -> types.put(
                            (String) property.get("name"), (String) property.getOrDefault("type", "java.lang.String")));
        }
        return types;
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> properties(URL metadata) {
        try (InputStream json = metadata.openStream()) {
            return (List<Map<String, Object>>) JsonParserFactory.getJsonParser()
                    .parseMap(new String(json.readAllBytes(), StandardCharsets.UTF_8))
                    .get("properties");
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Application {}
}
