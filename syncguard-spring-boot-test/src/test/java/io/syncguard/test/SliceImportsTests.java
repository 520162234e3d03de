package io.syncguard.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.autoconfigure.SyncGuardAutoConfiguration;
import io.syncguard.test.autoconfigure.AutoConfigureTestLocks;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.util.ClassUtils;

/** The files that slices read: Spring Boot has other names for its slices in each generation. */
class SliceImportsTests {

    private static final String GENERATION_3 = "org.springframework.boot.test.autoconfigure.";

    @ParameterizedTest
    @ValueSource(classes = {SyncGuardAutoConfiguration.class, AutoConfigureTestLocks.class})
    void each_slice_has_the_same_imports_in_both_generations(Class<?> module) throws Exception {
        Map<String, String> old = new TreeMap<>();
        Map<String, String> current = new TreeMap<>();
        slicesOf(module).forEach((name, imports) -> {
            if (name.startsWith("org.springframework.boot.")) {
                (name.startsWith(GENERATION_3) ? old : current).put(ClassUtils.getShortName(name), imports);
            }
        });

        // The slice of web clients has become two.
        current.remove("AutoConfigureRestClient");
        assertThat(current).hasSizeGreaterThan(2).isEqualTo(old);
    }

    @ParameterizedTest
    @ValueSource(classes = {SyncGuardAutoConfiguration.class, AutoConfigureTestLocks.class})
    void imports_are_classes(Class<?> module) throws Exception {
        assertThat(slicesOf(module).values())
                .flatMap(imports -> imports.lines().toList())
                .filteredOn(line -> !line.startsWith("optional:"))
                .allSatisfy(line -> assertThat(ClassUtils.isPresent(line, null)).isTrue());
    }

    /** The lines of each file by its name without {@code .imports}. */
    private static Map<String, String> slicesOf(Class<?> module) throws IOException, URISyntaxException {
        Path location = Path.of(
                module.getProtectionDomain().getCodeSource().getLocation().toURI());
        if (Files.isDirectory(location)) {
            return slicesIn(location);
        }
        try (FileSystem jar = FileSystems.newFileSystem(location)) {
            return slicesIn(jar.getPath("/"));
        }
    }

    private static Map<String, String> slicesIn(Path root) throws IOException {
        Map<String, String> slices = new TreeMap<>();
        List<Path> files;
        try (Stream<Path> all = Files.list(root.resolve("META-INF/spring"))) {
            files = all.filter(file -> file.toString().contains(".AutoConfigure"))
                    .collect(Collectors.toList());
        }
        for (Path file : files) {
            slices.put(file.getFileName().toString().replace(".imports", ""), Files.readString(file));
        }
        return slices;
    }
}
