package io.syncguard.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.FileSystemUtils;

/**
 * The files of this JVM's servers. A JVM that is killed leaves them behind, and maybe servers that still run. So the
 * next JVM of the same user that needs such a directory stops those servers and removes the files.
 *
 * <p>A lock on the file {@code life} shows that a JVM lives: its end ends the lock. The file {@code turn} is locked
 * while a JVM looks through the directories and makes its own.
 */
public final class RunDirectory {

    private static final Logger LOG = LoggerFactory.getLogger(RunDirectory.class);

    private static final Map<Path, Run> OF_THIS_JVM = new ConcurrentHashMap<>();

    private RunDirectory() {}

    /** Creates a directory among the temporary files. */
    public static Path newDirectory(String kind) {
        return newDirectory(Path.of(System.getProperty("java.io.tmpdir")), kind);
    }

    /** @param shared a directory of all users, such as {@code /dev/shm} */
    public static Path newDirectory(Path shared, String kind) {
        try {
            return Files.createTempDirectory(
                    OF_THIS_JVM
                            .computeIfAbsent(shared, each -> open(UserDirectory.in(each)))
                            .path(),
                    kind + "-");
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static Run open(Path user) {
        try (FileChannel turn = lockable(user.resolve("turn"))) {
            turn.lock();
            removeLeftovers(user);
            Path path = Files.createTempDirectory(user, "run-");
            FileChannel life = lockable(path.resolve("life"));
            life.lock();
            return new Run(path, life);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static void removeLeftovers(Path user) throws IOException {
        try (DirectoryStream<Path> runs = Files.newDirectoryStream(user, "run-*")) {
            for (Path run : runs) {
                if (isLeftOver(run)) {
                    remove(run);
                }
            }
        }
    }

    private static boolean isLeftOver(Path run) throws IOException {
        try (FileChannel life = lockable(run.resolve("life"))) {
            return life.tryLock() != null;
        } catch (OverlappingFileLockException ex) {
            return false;
        }
    }

    private static void remove(Path run) {
        try {
            PidFile.below(run).forEach(PidFile::stop);
            FileSystemUtils.deleteRecursively(run);
            LOG.info("Removed what an ended process left in {}", run);
        } catch (IOException ex) {
            // It lasts until somebody who may do so removes it.
            LOG.warn("{} is left of an ended process, and cannot be removed", run, ex);
        }
    }

    private static FileChannel lockable(Path file) throws IOException {
        return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    }

    /** @param life remains open until the JVM ends */
    private record Run(Path path, FileChannel life) {}
}
