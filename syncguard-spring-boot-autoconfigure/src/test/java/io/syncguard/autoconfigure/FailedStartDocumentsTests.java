package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.testing.GoldenMessages;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page for operators and the tested failures are the same ones. */
class FailedStartDocumentsTests {

    private static final Pattern SECTION =
            Pattern.compile("## When the application does not start\\R(.*?)\\R## ", Pattern.DOTALL);

    /** The first cell of a row: one or more beginnings in backticks. */
    private static final Pattern ROW = Pattern.compile("(?m)^\\| (`.*?`) \\|");

    private static final Pattern BEGINNING = Pattern.compile("`(.*?)`");

    /** A failure that no test can cause at will: a server that is silent. */
    private static final List<String> UNTESTED = List.of("PostgreSQL does not answer in time: …");

    @Test
    void every_tested_failure_is_in_the_table() throws IOException {
        List<String> beginnings = beginnings();
        descriptions()
                .forEach((file, description) -> assertThat(beginnings)
                        .as(file + " reads: " + description)
                        .anyMatch(beginning -> begins(description, beginning)));
    }

    @Test
    void every_row_of_the_table_is_tested() throws IOException {
        TreeMap<String, String> descriptions = descriptions();
        assertThat(beginnings())
                .hasSizeGreaterThan(30)
                .filteredOn(beginning -> !UNTESTED.contains(beginning))
                .allSatisfy(beginning -> assertThat(descriptions.values())
                        .as(beginning)
                        .anyMatch(description -> begins(description, beginning)));
    }

    @Test
    void every_message_belongs_to_a_test() throws IOException {
        String tests;
        try (Stream<Path> sources = Files.list(Path.of("src/test/java/io/syncguard/autoconfigure"))) {
            tests = sources.filter(source -> source.toString().endsWith("Tests.java"))
                    .map(FailedStartDocumentsTests::read)
                    .collect(Collectors.joining());
        }
        assertThat(GoldenMessages.all().keySet())
                .allSatisfy(mistake -> assertThat(tests).containsPattern("[\", ]" + mistake + "[\" ]"));
    }

    private static boolean begins(String description, String beginning) {
        String regex = Stream.of(beginning.split("…", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
        return Pattern.compile(regex, Pattern.DOTALL).matcher(description).lookingAt();
    }

    private static List<String> beginnings() throws IOException {
        String page = Files.readString(Path.of("../docs/messages.md"));
        String section =
                SECTION.matcher(page).results().findFirst().orElseThrow().group(1);
        return ROW.matcher(section)
                .results()
                .flatMap(row -> BEGINNING.matcher(row.group(1)).results())
                .map(match -> match.group(1))
                .toList();
    }

    /** The descriptions of failed starts by the names of their mistakes. */
    private static TreeMap<String, String> descriptions() {
        SortedMap<String, String> ofAnnotations =
                GoldenMessages.all(Path.of("../syncguard-spring/src/test/resources/messages.txt"));
        return Stream.concat(
                        ofAnnotations.entrySet().stream(),
                        GoldenMessages.all().entrySet().stream()
                                .filter(text -> text.getValue().startsWith("Description:")))
                .collect(Collectors.toMap(
                        Map.Entry::getKey,
                        text -> text.getValue()
                                .split("Action:")[0]
                                .replace("Description:", "")
                                .strip(),
                        (one, same) -> one,
                        TreeMap::new));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
