package io.syncguard.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.jar.JarOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.loader.tools.Library;
import org.springframework.boot.loader.tools.LibraryScope;
import org.springframework.boot.loader.tools.Repackager;

/** The sample as one executable jar, in which the libraries are jars: scripts and classes are found there, too. */
class ExecutableJarTests {

    private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");

    @TempDir
    private Path directory;

    @Test
    void anOrderIsProcessedOnce() throws Exception {
        File log = directory.resolve("sample.log").toFile();
        Process sample = OtherInstance.java(
                List.of("-jar", repackaged().toString(), "--sample.postgres-port=0", "--server.port=0"), log);
        try {
            Matcher port = await().atMost(Duration.ofMinutes(3))
                    .until(() -> PORT.matcher(Files.readString(log.toPath())), Matcher::find);
            HttpRequest submit = HttpRequest.newBuilder(
                            URI.create("http://127.0.0.1:" + port.group(1) + "/orders/42/submit"))
                    .POST(BodyPublishers.noBody())
                    .build();
            HttpClient http = HttpClient.newHttpClient();

            assertThat(http.send(submit, BodyHandlers.discarding()).statusCode())
                    .isEqualTo(200);
            assertThat(http.send(submit, BodyHandlers.discarding()).statusCode())
                    .isEqualTo(409);
        } finally {
            // Stops its PostgreSQL, too.
            sample.destroy();
            sample.onExit().join();
        }
    }

    private Path repackaged() throws Exception {
        Path classes = Path.of(SampleApplication.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        Repackager repackager = new Repackager(jarOf(classes).toFile());
        repackager.setMainClass(SampleApplication.class.getName());
        Path executable = directory.resolve("executable.jar");
        repackager.repackage(executable.toFile(), callback -> {
            for (String entry : OtherInstance.CLASS_PATH.split(File.pathSeparator)) {
                Path path = Path.of(entry);
                if (!path.equals(classes) && Files.exists(path)) {
                    File jar = Files.isDirectory(path) ? jarOf(path).toFile() : path.toFile();
                    callback.library(new Library(jar, LibraryScope.RUNTIME));
                }
            }
        });
        return executable;
    }

    /** Packs a directory of classes, such as that of another module. */
    private Path jarOf(Path classes) throws IOException {
        Path jar = Files.createTempFile(directory, "classes", ".jar");
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(file);
                Stream<Path> paths = Files.walk(classes)) {
            for (Path path : paths.filter(Files::isRegularFile).toList()) {
                entries.putNextEntry(
                        new ZipEntry(classes.relativize(path).toString().replace(File.separatorChar, '/')));
                Files.copy(path, entries);
                entries.closeEntry();
            }
        }
        return jar;
    }
}
