package io.syncguard.testing;

import io.syncguard.postgres.PostgresScript;
import io.syncguard.postgres.PostgresTables;
import io.syncguard.spi.FenceSource;
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The library with some of its sources changed: a directory with the compiled classes and the changed scripts, which
 * child processes have before the library on their class path.
 */
public final class ChangedLibrary {

    /** The sources, from the directory of any module. */
    private static final Path SOURCES = Path.of("../syncguard-spring-boot-autoconfigure/src/main");

    private static final String JAVA = "java/";
    private static final String RESOURCES = "resources/";
    private static final Path SCRIPT = Path.of("db/syncguard/postgresql/R__syncguard_schema.sql");

    private final Path directory;

    private ChangedLibrary(Path directory) {
        this.directory = directory;
    }

    /**
     * A change of one source.
     *
     * @param file below {@code src/main}
     * @param before a part of it, which occurs once
     * @param after what stands there instead
     */
    public record Edit(String file, String before, String after) {

        private String applyTo(String text) {
            int at = text.indexOf(before);
            if (at < 0 || text.indexOf(before, at + 1) >= 0) {
                throw new IllegalArgumentException(
                        (at < 0 ? "Not in " : "More than once in ") + file + ": " + before + "\nMend the edit");
            }
            return text.substring(0, at) + after + text.substring(at + before.length());
        }
    }

    /** The library as it is. */
    public static ChangedLibrary unchanged() throws IOException {
        return with(List.of());
    }

    public static ChangedLibrary with(List<Edit> edits) throws IOException {
        ChangedLibrary library = new ChangedLibrary(
                Files.createTempDirectory(Files.createDirectories(Path.of("target", "planted")), "library-"));
        library.write(changedSources(edits));
        return library;
    }

    /**
     * The changed sources by file.
     *
     * @throws IllegalArgumentException when an edit does not fit any more
     */
    public static Map<String, String> changedSources(List<Edit> edits) throws IOException {
        Map<String, String> changed = new LinkedHashMap<>();
        for (Edit edit : edits) {
            String text = changed.containsKey(edit.file)
                    ? changed.get(edit.file)
                    : Files.readString(SOURCES.resolve(edit.file));
            changed.put(edit.file, edit.applyTo(text));
        }
        return changed;
    }

    /** Its classes and scripts come before those on the class path. */
    public Path directory() {
        return directory.toAbsolutePath();
    }

    /** Runs the script of the schema on PostgreSQL if it was changed, where that of the library ran before. */
    public void installScript(DataSource dataSource) throws IOException {
        Path script = directory.resolve(SCRIPT);
        if (!Files.exists(script)) {
            return;
        }
        String filled = Files.readString(script);
        for (Map.Entry<String, String> each : new PostgresScript(PostgresTables.DEFAULT, FenceSource.COUNTER)
                .placeholders()
                .entrySet()) {
            filled = filled.replace("${" + each.getKey() + "}", each.getValue());
        }
        new JdbcTemplate(dataSource).execute(filled);
    }

    private void write(Map<String, String> changed) throws IOException {
        List<JavaFileObject> sources = new ArrayList<>();
        for (Map.Entry<String, String> each : changed.entrySet()) {
            if (each.getKey().startsWith(JAVA)) {
                sources.add(new Source(each.getKey().substring(JAVA.length()), each.getValue()));
            } else {
                Path target = directory.resolve(each.getKey().substring(RESOURCES.length()));
                Files.createDirectories(target.getParent());
                Files.writeString(target, each.getValue());
            }
        }
        if (!sources.isEmpty()) {
            compile(sources);
        }
    }

    private void compile(List<JavaFileObject> sources) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter messages = new StringWriter();
        List<String> options = List.of(
                "-parameters", "-proc:none", "-nowarn", "-d", directory.toString(), "-cp", ChildJvm.classPath());
        if (!compiler.getTask(messages, null, null, options, null, sources).call()) {
            throw new IllegalArgumentException("An edit does not compile:" + System.lineSeparator() + messages);
        }
    }

    private static final class Source extends SimpleJavaFileObject {

        private final String text;

        Source(String path, String text) {
            super(URI.create("string:///" + path.replace(File.separatorChar, '/')), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }
}
