package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import io.syncguard.DistributedLock;
import io.syncguard.testing.LibraryModules;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The samples in the documents compile, and everything that the documents name exists. */
class DocumentationTests {

    private static final List<Path> SAMPLES = Stream.of(
                    "java/io/syncguard/docs/FirstSampleTests.java",
                    "java/io/syncguard/docs/GuideSamples.java",
                    "java/io/syncguard/docs/AsyncSampleTests.java",
                    "java/io/syncguard/docs/ReviewSampleTests.java",
                    "java/io/syncguard/docs/FencingSampleTests.java",
                    "java/io/syncguard/docs/IdempotencySampleTests.java",
                    "java/io/syncguard/docs/RepeatedClickSampleTests.java",
                    "java/io/syncguard/docs/ScheduledJobRecipeTests.java",
                    "java/io/syncguard/docs/WebhookRecipeTests.java",
                    "java/io/syncguard/docs/PaymentRecipeTests.java",
                    "../../../../syncguard-spring-boot-autoconfigure/src/test/java/io/syncguard/autoconfigure/LockConnectionFactoryTests.java",
                    "../../../../syncguard-spring-boot-autoconfigure/src/test/java/io/syncguard/autoconfigure/LockDataSourceTests.java",
                    "../../../../syncguard-spring-boot-autoconfigure/src/test/java/io/syncguard/autoconfigure/OpenInViewTests.java",
                    "../../../../syncguard-spring-boot-autoconfigure/src/test/java/io/syncguard/autoconfigure/TenantLocksTests.java",
                    "../../../../syncguard-spring-boot-autoconfigure/src/test/java/io/syncguard/autoconfigure/ThirdStoreTests.java",
                    "java/io/syncguard/docs/DrainRecipeTests.java",
                    "java/io/syncguard/docs/OperatorCommandTests.java",
                    "java/io/syncguard/docs/MigrationSampleTests.java",
                    "resources/io/syncguard/docs/counter-growth.sql",
                    "resources/io/syncguard/docs/counter-growth.redis",
                    "../../../../internal/frameworks/web/src/test/java/io/syncguard/frameworks/web/GrpcRefusalTests.java",
                    "../../../../internal/test-support/src/main/resources/io/syncguard/docs/rights.sql",
                    "../../../../syncguard-spring-boot-test/src/test/java/io/syncguard/docs/TestingSampleTests.java",
                    "../../../../syncguard-spring-boot-test/src/test/java/io/syncguard/docs/ContainerSampleTests.java",
                    "../../../../internal/frameworks/messaging/src/test/java/io/syncguard/docs/KafkaListenerSampleTests.java",
                    "../../../../internal/frameworks/messaging/src/test/java/io/syncguard/docs/RabbitListenerSampleTests.java",
                    "../../../../internal/frameworks/messaging/src/test/java/io/syncguard/docs/JmsListenerSampleTests.java",
                    "../../../../internal/frameworks/messaging/src/test/resources/broker.xml")
            .map(Path.of("src/test")::resolve)
            .toList();

    /** A region of a file in Java, SQL, XML or another language, between two comments. */
    private static final Pattern SAMPLE =
            Pattern.compile("(?s)(?://|--|#) sample: (\\S+)(?: -->)?\\R(.*?)\\R *(?://|<!--|--|#) end");

    private static final Pattern SHOWN = Pattern.compile("(?s)<!-- sample: (\\S+) -->\\R```[a-z]+\\R(.*?)\\R```");

    private static final Pattern CODE = Pattern.compile("(?s)```(?:java|kotlin)\\R(.*?)\\R```");

    private static final Pattern IMPORTS = Pattern.compile("\\A(?:import \\S+\\R)+\\R");

    private static final Pattern OWN_IMPORT = Pattern.compile("(?m)^import (io\\.syncguard\\.\\S+?);?$");

    private static final Pattern TYPE = Pattern.compile("\\b[A-Z]\\w+");

    /** The file, empty for the same one, and the section. */
    private static final Pattern LINK = Pattern.compile("\\]\\((?!https?:)([^)#\\s]*)(?:#([^)\\s]+))?\\)");

    private static final Pattern FENCED = Pattern.compile("(?ms)^```.*?^```");

    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.+)$");

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
        for (Path document : DocumentBlock.documents()) {
            matches(SHOWN, Files.readString(document))
                    .forEach((name, sample) ->
                            shown.put(name, IMPORTS.matcher(sample).replaceFirst("")));
        }

        assertThat(shown).isNotEmpty().isEqualTo(compiled);
    }

    @Test
    void the_first_sample_of_a_page_that_uses_a_package_imports_its_types() throws IOException {
        Map<String, List<String>> types = publicTypes();
        assertThat(types).containsKeys("DistributedLock", "LeaderOnly", "AutoConfigureTestLocks");
        for (Path document : DocumentBlock.documents()) {
            Set<String> introduced = new HashSet<>();
            for (MatchResult code :
                    CODE.matcher(Files.readString(document)).results().toList()) {
                Set<String> imports = found(OWN_IMPORT, code.group(1), 1);
                List<String> used = found(
                                TYPE, OWN_IMPORT.matcher(code.group(1)).replaceAll(""), 0)
                        .stream()
                        .flatMap(name -> types.getOrDefault(name, List.of()).stream())
                        .filter(type -> !introduced.contains(packageOf(type)))
                        .toList();
                assertThat(imports)
                        .as("imports in %s of%n%s", document, code.group(1))
                        .containsExactlyInAnyOrderElementsOf(used);
                used.forEach(type -> introduced.add(packageOf(type)));
            }
        }
    }

    @Test
    void links_between_the_documents_lead_to_a_file_and_a_section() throws IOException {
        for (Path document : DocumentBlock.documents()) {
            for (MatchResult link : LINK.matcher(prose(document)).results().toList()) {
                Path target = link.group(1).isEmpty() ? document : document.resolveSibling(link.group(1));
                assertThat(target).as("linked in " + document).exists();
                if (link.group(2) != null && target.toString().endsWith(".md")) {
                    assertThat(sections(target))
                            .as("sections of %s, linked in %s", target, document)
                            .contains(link.group(2));
                }
            }
        }
    }

    @Test
    void tables_are_whole() throws IOException {
        for (Path document : DocumentBlock.documents()) {
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
    void the_attributes_of_the_annotation_are_all_in_the_table_of_the_guide() throws IOException {
        String guide = Files.readString(DocumentBlock.ROOT.resolve("docs/guide.md"));

        assertThat(DistributedLock.class.getDeclaredMethods())
                .allSatisfy(attribute -> assertThat(guide)
                        .containsPattern("(?m)^\\|[^|]*`" + attribute.getName() + "`[^|]*\\|[^|]*\\|[^|]*\\|$"));
    }

    @Test
    void the_properties_are_all_described() throws IOException {
        String configuration = Files.readString(DocumentBlock.ROOT.resolve("docs/configuration.md"));
        String metadata = Files.readString(LibraryModules.classesOf("syncguard-spring-boot-autoconfigure")
                .resolve("META-INF/spring-configuration-metadata.json"));

        Pattern name = Pattern.compile(
                "\"name\": \"((?:management.(?:health|info).)?syncguard\\.[a-z.-]+)\",\\s+\"type\": \"(?!io\\.syncguard\\.autoconfigure\\.SyncGuardProperties)");
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

    /** Returns the public types of the library, its module for tests and the contract kit, by their simple names. */
    private static Map<String, List<String>> publicTypes() throws IOException {
        List<String> types = new ArrayList<>(LibraryModules.importAll().stream()
                .filter(type -> type.isTopLevelClass() && type.getModifiers().contains(JavaModifier.PUBLIC))
                .map(JavaClass::getName)
                .toList());
        for (String module : List.of("syncguard-spring-boot-test", "internal/contract-kit")) {
            Path sources = DocumentBlock.ROOT.resolve(module).resolve("src/main/java");
            try (Stream<Path> files = Files.walk(sources)) {
                files.filter(file -> file.toString().endsWith(".java"))
                        .map(sources::relativize)
                        .map(DocumentationTests::typeOf)
                        .forEach(types::add);
            }
        }
        return types.stream().collect(Collectors.groupingBy(type -> type.substring(type.lastIndexOf('.') + 1)));
    }

    private static String prose(Path document) throws IOException {
        return FENCED.matcher(Files.readString(document)).replaceAll("");
    }

    /** The names that GitHub gives to the headings of a page. */
    private static List<String> sections(Path document) throws IOException {
        return HEADING.matcher(prose(document))
                .results()
                .map(heading -> heading.group(1)
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N}_ -]", "")
                        .replace(' ', '-'))
                .toList();
    }

    private static String typeOf(Path file) {
        return file.toString().replaceFirst("\\.\\w+$", "").replace('/', '.').replace('\\', '.');
    }

    private static String packageOf(String type) {
        return type.substring(0, type.lastIndexOf('.'));
    }

    private static Set<String> found(Pattern pattern, String text, int group) {
        return pattern.matcher(text).results().map(match -> match.group(group)).collect(Collectors.toSet());
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
}
