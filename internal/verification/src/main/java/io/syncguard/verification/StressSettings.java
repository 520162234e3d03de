package io.syncguard.verification;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

/**
 * Length and size of a run: those of a build, unless system properties {@code syncguard.stress.*} are set.
 *
 * @param seed of all random choices. The same one makes the same choices, though not at the same times
 * @param seconds of work, after the processes have started
 * @param workers processes
 * @param clients threads of each
 */
public record StressSettings(long seed, int seconds, int workers, int clients) {

    /** The settings of this run, of the usual length unless a property sets it. */
    public static StressSettings fromSystemProperties() {
        return fromSystemProperties(10);
    }

    /** @param seconds unless a property sets them */
    public static StressSettings fromSystemProperties(int seconds) {
        return new StressSettings(
                Long.getLong("syncguard.stress.seed", new Random().nextInt(Integer.MAX_VALUE)),
                Integer.getInteger("syncguard.stress.seconds", seconds),
                Integer.getInteger("syncguard.stress.workers", 3),
                Integer.getInteger("syncguard.stress.clients", 4));
    }

    /** Makes a directory for the files of one run, in {@code target}; several may have the same seed. */
    public Path newDirectory(String of) throws IOException {
        return Files.createTempDirectory(Files.createDirectories(Path.of("target", of)), seed + "-");
    }
}
