package io.syncguard.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A file whose first line is the id of a server's process. */
record PidFile(Path path) {

    private static final Duration TIME_TO_STOP = Duration.ofSeconds(10);

    /** Systems tell the start of a process to the second. */
    private static final Duration PRECISION = Duration.ofSeconds(2);

    /** Servers have their files in the given directory or in one below it. */
    private static final int DEPTH = 3;

    static List<PidFile> below(Path directory) throws IOException {
        try (Stream<Path> paths =
                Files.find(directory, DEPTH, (path, found) -> path.toString().endsWith(".pid"))) {
            return paths.map(PidFile::new).toList();
        }
    }

    /** The process that was alive when the file was written. After its end, another process may have its id. */
    Optional<ProcessHandle> process() {
        try (Stream<String> lines = Files.lines(path)) {
            Instant written = Files.getLastModifiedTime(path).toInstant();
            return lines.findFirst()
                    .map(String::trim)
                    // A server that is killed at its start may leave an empty file.
                    .filter(line -> !line.isEmpty())
                    .flatMap(line -> ProcessHandle.of(Long.parseLong(line)))
                    .filter(process -> process.info()
                            .startInstant()
                            .filter(start -> start.isBefore(written.plus(PRECISION)))
                            .isPresent());
        } catch (NoSuchFileException ex) {
            return Optional.empty();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Ends the process if it is still alive: it has ten seconds to end by itself. */
    void stop() {
        process().ifPresent(process -> {
            process.destroy();
            if (!hasEnded(process)) {
                process.destroyForcibly();
                hasEnded(process);
            }
        });
    }

    private static boolean hasEnded(ProcessHandle process) {
        // onExit() would look only every few seconds, because the process is no child of this one.
        return Patience.await(TIME_TO_STOP, () -> !process.isAlive());
    }
}
