package io.syncguard.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.syncguard.DistributedLock;
import java.nio.file.Path;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;

/** An IDE shows the Javadoc of a jar with the sources beside it. */
class SourcesTests {

    @Test
    void the_sources_of_the_library_are_beside_its_jar() throws Exception {
        Path library = Path.of(DistributedLock.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        assumeThat(library).as("packaged by mvn verify, but not by mvn test").isRegularFile();

        Path sources = library.resolveSibling(library.getFileName().toString().replaceFirst("\\.jar$", "-sources.jar"));
        assertThat(sources).exists();
        try (JarFile jar = new JarFile(sources.toFile())) {
            assertThat(jar.getEntry("io/syncguard/DistributedLock.java")).isNotNull();
        }
    }
}
