package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A class of which the documents show only the heads of its methods compiles when the bodies are there. */
class SkeletonBlockTests {

    private static final String GAP = "{ ... }";

    private static final Pattern CLASS = Pattern.compile("public (?:final )?class (\\w+)");

    @ParameterizedTest
    @MethodSource("skeletons")
    void a_class_compiles_with_its_bodies(DocumentBlock block, @TempDir Path directory) throws IOException {
        Matcher name = CLASS.matcher(block.text());
        assertThat(name.find()).isTrue();
        Path source = directory.resolve(name.group(1) + ".java");
        Files.writeString(source, block.text().replace(GAP, "{ throw new UnsupportedOperationException(); }"));

        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> errors = new DiagnosticCollector<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(errors, null, null)) {
            List<String> options = List.of(
                    "-proc:none",
                    "-d",
                    directory.toString(),
                    "-classpath",
                    System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
            compiler.getTask(null, files, errors, options, null, files.getJavaFileObjects(source))
                    .call();
        }
        assertThat(errors.getDiagnostics()).isEmpty();
    }

    static Stream<DocumentBlock> skeletons() {
        return DocumentBlock.in("java").stream().filter(DocumentBlock::isSkeleton);
    }
}
