package io.syncguard.verification.matrix;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A disk of four megabytes, which a fault fills for a while. Needs Linux and the right to mount. */
final class SmallDisk implements AutoCloseable {

    private final Path directory;

    /**
     * Skips the campaign where this user may not mount a disk.
     *
     * @param directory an empty one, which becomes the disk
     */
    SmallDisk(Path directory) {
        this.directory = directory;
        assumeTrue(
                succeeds("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", directory.toString()), "may mount a disk");
    }

    @Override
    public String toString() {
        return directory.toString();
    }

    /** Fills the disk during the action. */
    void fillDuring(Runnable action) {
        Path filler = directory.resolve("filler");
        try {
            fill(filler);
            action.run();
        } finally {
            delete(filler);
        }
    }

    private static void fill(Path filler) {
        byte[] page = new byte[4096];
        try (OutputStream file = Files.newOutputStream(filler)) {
            for (int i = 0; i < 10_000; i++) {
                file.write(page);
            }
        } catch (IOException ex) {
            // No space is left.
            return;
        }
        throw new IllegalStateException("The disk does not fill up");
    }

    private static void delete(Path file) {
        try {
            Files.delete(file);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Unmounts the disk. Its directory remains. */
    @Override
    public void close() {
        // Lazy, because the server may still have a file of the disk open.
        if (!succeeds("umount", "-l", directory.toString())) {
            throw new IllegalStateException(directory + " is still mounted");
        }
    }

    private static boolean succeeds(String... command) {
        try {
            return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor() == 0;
        } catch (IOException ex) {
            // The program is not installed.
            return false;
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
