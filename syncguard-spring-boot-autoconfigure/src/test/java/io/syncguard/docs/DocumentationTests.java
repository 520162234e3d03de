package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The samples in the documents compile, and everything that the documents name exists. */
class DocumentationTests {

    private static final Path ROOT = Path.of("..");

    private static final List<Path> SAMPLES = Stream.of(
                    "java/io/syncguard/docs/GuideSamples.java",
                    "java/io/syncguard/docs/FencingSampleTests.java",
                    "java/io/syncguard/docs/IdempotencySampleTests.java",
                    "java/io/syncguard/docs/ScheduledJobRecipeTests.java",
                    "java/io/syncguard/docs/WebhookRecipeTests.java",
                    "java/io/syncguard/docs/PaymentRecipeTests.java",
                    "java/io/syncguard/autoconfigure/TenantLocksTests.java",
                    "java/io/syncguard/autoconfigure/OpenInViewTests.java",
                    "java/io/syncguard/docs/CounterGrowthRecipeTests.java",
                    "java/io/syncguard/docs/MigrationSampleTests.java",
                    "resources/io/syncguard/docs/counter-growth.sql",
                    "resources/io/syncguard/docs/counter-growth.redis",
                    "resources/io/syncguard/docs/rights.sql",
                    "../../../syncguard-spring-boot-test/src/test/java/io/syncguard/docs/TestingSampleTests.java",
                    "../../../syncguard-spring-boot-test/src/test/java/io/syncguard/docs/ContainerSampleTests.java",
                    "../../../kotlin-tests/src/test/kotlin/io/syncguard/kotlin/Orders.kt")
            .map(Path.of("src/test")::resolve)
            .toList();

    /** A region of a file in Java, SQL or another language, between two comments. */
    private static final Pattern SAMPLE = Pattern.compile("(?s)(?://|--|#) sample: (\\S+)\\R(.*?)\\R *(?://|--|#) end");

    private static final Pattern SHOWN = Pattern.compile("(?s)<!-- sample: (\\S+) -->\\R```[a-z]+\\R(.*?)\\R```");

    private static final Pattern LINK = Pattern.compile("\\]\\((?!https?:|#)([^)#]+)");

    /** Rows without an empty line between them, which would end the table. */
    private static final Pattern TABLE = Pattern.compile("(?m)(^\\|.*\\R)+");

    private static final Pattern BAR = Pattern.compile("(?<!\\\\)\\|");

    @Test
    void the_samples_in_the_documents_are_the_compiled_ones() throws IOException {
        Map<String, String> compiled = new TreeMap<>();
        for (Path samples : SAMPLES) {
            compiled.putAll(matches(SAMPLE, Files.readString(samples)));
        }
        Map<String, String> shown = new TreeMap<>();
        for (Path document : documents()) {
            shown.putAll(matches(SHOWN, Files.readString(document)));
        }

        assertThat(shown).isNotEmpty().isEqualTo(compiled);
    }

    @Test
    void links_between_the_documents_lead_somewhere() throws IOException {
        for (Path document : documents()) {
            LINK.matcher(Files.readString(document))
                    .results()
                    .map(link -> document.resolveSibling(link.group(1)))
                    .forEach(target ->
                            assertThat(target).as("linked in " + document).exists());
        }
    }

    @Test
    void tables_are_whole() throws IOException {
        for (Path document : documents()) {
            TABLE.matcher(Files.readString(document))
                    .results()
                    .map(table -> table.group().lines().toList())
                    .forEach(rows -> assertThat(rows)
                            .as("a table in " + document)
                            .hasSizeGreaterThan(2)
                            .allSatisfy(row -> assertThat(bars(row)).isEqualTo(bars(rows.get(0))))
                            .element(1)
                            .asString()
                            .matches("[|: -]+"));
        }
    }

    @Test
    void the_properties_are_all_described() throws IOException {
        String configuration = Files.readString(ROOT.resolve("docs/configuration.md"));
        String metadata = Files.readString(Path.of("target/classes/META-INF/spring-configuration-metadata.json"));

        Pattern name = Pattern.compile(
                "\"name\": \"(syncguard\\.[a-z.-]+)\",\\s+\"type\": \"(?!io\\.syncguard\\.autoconfigure\\.SyncGuardProperties)");
        assertThat(name.matcher(metadata).results().map(property -> property.group(1)))
                .hasSizeGreaterThan(10)
                .allSatisfy(property -> assertThat(configuration).contains("`" + property + "`"));

        String elections = configuration.substring(configuration.indexOf("\n## Elections"));
        assertThat(Pattern.compile("\"name\": \"syncguard\\.leader\\.elections\\.\\*\\.([a-z-]+)\",\\s+\"type\"")
                        .matcher(metadata)
                        .results()
                        .map(property -> property.group(1)))
                .hasSize(6)
                .allSatisfy(property -> assertThat(elections).contains("\n| `" + property + "` |"));
    }

    private static long bars(String row) {
        return BAR.matcher(row).results().count();
    }

    private static Map<String, String> matches(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .collect(Collectors.toMap(match -> match.group(1), withoutIndent(), (one, same) -> one, TreeMap::new));
    }

    private static Function<MatchResult, String> withoutIndent() {
        return match -> match.group(2).stripIndent().strip();
    }

    private static Iterable<Path> documents() throws IOException {
        try (Stream<Path> docs = Files.list(ROOT.resolve("docs"));
                Stream<Path> root = Files.list(ROOT);
                Stream<Path> modules = Files.list(ROOT).map(module -> module.resolve("README.md"))) {
            return Stream.of(docs, root, modules)
                    .flatMap(each -> each)
                    .filter(file -> file.toString().endsWith(".md") && Files.isRegularFile(file))
                    .toList();
        }
    }
}
