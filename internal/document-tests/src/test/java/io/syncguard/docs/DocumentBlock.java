package io.syncguard.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One block of a document between two rows of three backticks.
 *
 * @param page the path of the document from the root of the project
 * @param sample the name of the compiled sample, empty if the block is none
 * @param language the word behind the backticks, empty if there is none
 */
record DocumentBlock(String page, String sample, String language, String text) {

    static final Path ROOT = Path.of("..", "..");

    private static final Pattern BLOCK =
            Pattern.compile("(?ms)(?:^<!-- sample: (\\S+) -->\\R)?^```(\\S*)\\R(.*?)^```$");

    static List<DocumentBlock> all() {
        return documents().stream().flatMap(DocumentBlock::of).toList();
    }

    static List<DocumentBlock> in(String... languages) {
        return all().stream()
                .filter(block -> Set.of(languages).contains(block.language))
                .toList();
    }

    static List<Path> documents() {
        try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"));
                Stream<Path> root = Files.list(ROOT);
                Stream<Path> modules = Files.list(ROOT).map(module -> module.resolve("README.md"));
                Stream<Path> internal =
                        Files.list(ROOT.resolve("internal")).map(module -> module.resolve("README.md"))) {
            return Stream.of(docs, root, modules, internal)
                    .flatMap(each -> each)
                    .filter(file -> file.toString().endsWith(".md") && Files.isRegularFile(file))
                    .sorted()
                    .toList();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static Stream<DocumentBlock> of(Path document) {
        String page = ROOT.relativize(document).toString().replace('\\', '/');
        try {
            return BLOCK.matcher(Files.readString(document))
                    .results()
                    .map(block -> new DocumentBlock(
                            page,
                            block.group(1) == null ? "" : block.group(1),
                            block.group(2),
                            block.group(3).stripIndent()));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    boolean isSample() {
        return !sample.isEmpty();
    }

    /** Whether bodies of methods are left out. */
    boolean isSkeleton() {
        return text.contains("{ ... }");
    }

    /** Names the block in the messages of tests. */
    String name() {
        return page + ": " + text.lines().findFirst().orElse("");
    }

    @Override
    public String toString() {
        return name();
    }
}
