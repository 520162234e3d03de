package io.syncguard.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.springframework.util.FileSystemUtils;

/**
 * A bug that a test plants into a class of the library, to see that a checker finds it. The class is compiled from its
 * present source with one change. A change whose text is not in the source any more, or twice, fails.
 */
public final class PlantedBug {

    private static final Path SOURCES = Path.of("src/main/java");

    private final Class<?> type;
    private final String correct;
    private final String wrong;

    private PlantedBug(Class<?> type, String correct, String wrong) {
        this.type = type;
        this.correct = correct;
        this.wrong = wrong;
    }

    /** Has the wrong text in place of the correct one, which occurs once. */
    public static PlantedBug in(Class<?> type, String correct, String wrong) {
        return new PlantedBug(type, correct, wrong);
    }

    /** Asks a process in which the class has the bug. */
    String ask(Class<?> main, String question) {
        try {
            Path directory = Files.createTempDirectory("planted-");
            try {
                compileInto(directory);
                try (ChildJvm child = ChildJvm.start(directory, main)) {
                    return child.ask(question, Interleavings.PATIENCE_SECONDS);
                }
            } finally {
                FileSystemUtils.deleteRecursively(directory);
            }
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void compileInto(Path directory) throws IOException {
        Path source = directory.resolve(type.getSimpleName() + ".java");
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            Files.writeString(source, changedSource());
            List<String> options =
                    List.of("-proc:none", "-nowarn", "-d", directory.toString(), "-cp", ChildJvm.classPath());
            assertThat(compiler.getTask(null, files, null, options, null, files.getJavaFileObjects(source))
                            .call())
                    .as("the compiler has accepted the planted bug, see the output")
                    .isTrue();
        }
    }

    private String changedSource() throws IOException {
        Path file = SOURCES.resolve(type.getName().replace('.', '/') + ".java");
        String source = Files.readString(file);
        assertThat(source.split(Pattern.quote(correct), -1))
                .as("'%s' occurs once in %s", correct, file)
                .hasSize(2);
        return source.replace(correct, wrong);
    }
}
