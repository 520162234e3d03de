package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The commands of the documents: modules, profiles, tests and programs that they name exist. */
class CommandBlockTests {

    /** The first words of commands that are not run here, and why. */
    private static final Map<String, String> ELSEWHERE = Map.ofEntries(
            Map.entry("curl", "OperatorCommandTests send them"),
            Map.entry("redis-cli", "RedisCommandTests send them"),
            Map.entry("java", "CheckTests run what it starts"),
            Map.entry("psql", "SchemaScriptTests run it"),
            Map.entry("unzip", "SchemaScriptTests run it"),
            Map.entry("sed", "SchemaScriptTests run it"),
            Map.entry("git", "signs a release"),
            Map.entry("apt-get", "installs packages of the machine"),
            Map.entry("spin", "ProtocolModelTests run it in the same way"),
            Map.entry("cd", "belongs to spin"),
            Map.entry("M=", "belongs to spin"));

    private static final Pattern COMMENT = Pattern.compile("(?m)(^|\\s+)#.*$");

    /** A word of a shell, perhaps with quotes inside. */
    private static final Pattern WORD = Pattern.compile("(?:[^\\s']|'[^']*')+");

    /** The commands in the text between the blocks. */
    private static final Pattern INLINE = Pattern.compile("`((?:\\S+=\\S+ )*mvn [^`]+)`");

    private static final List<Path> FILES = sources();

    @ParameterizedTest
    @MethodSource("commands")
    void what_a_command_names_exists(String command) throws IOException {
        List<String> words = words(command);
        String program = program(command);
        if (program.equals("mvn")) {
            assertThat(words.subList(1, words.size())).allSatisfy(CommandBlockTests::isKnownToMaven);
        } else if (Files.exists(DocumentBlock.ROOT.resolve(program))) {
            assertThat(DocumentBlock.ROOT.resolve(program)).isExecutable();
        } else {
            assertThat(ELSEWHERE).containsKey(program);
        }
    }

    @Test
    void each_exception_is_used() throws IOException {
        assertThat(commands().map(CommandBlockTests::program)).containsAll(ELSEWHERE.keySet());
    }

    static Stream<String> commands() throws IOException {
        List<String> commands = new ArrayList<>();
        for (DocumentBlock block : DocumentBlock.in("sh")) {
            COMMENT.matcher(block.text().replaceAll("\\\\\\R\\s*", ""))
                    .replaceAll("")
                    .lines()
                    .filter(line -> !line.isBlank())
                    .forEach(commands::add);
        }
        for (Path document : DocumentBlock.documents()) {
            INLINE.matcher(Files.readString(document)).results().forEach(inline -> commands.add(inline.group(1)));
        }
        return commands.stream();
    }

    private static String program(String command) {
        return words(command).get(0).replaceFirst("(?s)=.*", "=");
    }

    /** Returns the words of a command, without the variables in front of the program. */
    private static List<String> words(String command) {
        List<String> words = WORD.matcher(command)
                .results()
                .map(word -> word.group().replace("'", ""))
                .dropWhile(word -> word.matches("(?s)[A-Z_]+=.*") && command.contains("mvn "))
                .toList();
        return words.isEmpty() ? fail(command) : words;
    }

    private static void isKnownToMaven(String word) throws IOException {
        Matcher property = Pattern.compile("-D([\\w.-]+)(?:=(.*))?").matcher(word);
        if (property.matches()) {
            if (property.group(1).equals("test")) {
                assertThat(property.group(2).split(",")).allMatch(CommandBlockTests::isTest);
            } else {
                assertThat(isUsed(property.group(1))).as(word).isTrue();
            }
        } else if (word.matches("-P\\w+")) {
            assertThat(Files.readString(DocumentBlock.ROOT.resolve("pom.xml")))
                    .contains("<id>" + word.substring(2) + "</id>");
        } else if (!word.matches(
                "-T\\d|-pl|-am|test|verify|install|package|pre-site|spotless:apply|spring-boot:run|…")) {
            assertThat(word.split(","))
                    .allSatisfy(module -> assertThat(DocumentBlock.ROOT.resolve(module + "/pom.xml"))
                            .exists());
        }
    }

    private static boolean isTest(String pattern) {
        if (pattern.equals("…")) {
            return true;
        }
        String name = pattern.replaceFirst("^!", "");
        String glob = "glob:**/src/test/java/**" + (name.contains(".") ? name.replace('.', '/') : name)
                + (name.endsWith("**") ? "" : ".java");
        return FILES.stream().anyMatch(DocumentBlock.ROOT.getFileSystem().getPathMatcher(glob)::matches);
    }

    /** Whether a pom or a test has the property, unless it is one of Maven's or Spring Boot's plugins. */
    private static boolean isUsed(String property) {
        return property.matches(
                        "maven\\.test\\.skip|forkCount|argLine|spring-boot\\.run\\.(arguments|profiles)|jqwik\\..*")
                || FILES.stream().anyMatch(file -> contains(file, property.replaceFirst("^syncguard\\.inputs\\.", "")));
    }

    private static boolean contains(Path file, String text) {
        try {
            return Files.readString(file).contains(text);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static List<Path> sources() {
        try (Stream<Path> files = Files.walk(DocumentBlock.ROOT)) {
            return files.filter(file -> file.toString().endsWith(".java") || file.endsWith("pom.xml"))
                    .toList();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
