package io.syncguard.verification;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

/**
 * Length and size of a run. System properties {@code syncguard.stress.*} override the values of a usual build.
 *
 * @param seed of all random choices. The same seed makes the same choices, but not at the same times
 * @param seconds of work, after the processes have started
 * @param workers number of processes
 * @param clients number of threads of each process
 */
public record StressSettings(long seed, int seconds, int workers, int clients) {

    /** The settings of this run. Without a property it has the usual length. */
    public static StressSettings fromSystemProperties() {
        return fromSystemProperties(10);
    }

    /** @param seconds the length of the run if no property sets it */
    public static StressSettings fromSystemProperties(int seconds) {
        return new StressSettings(
                Long.getLong("syncguard.stress.seed", new Random().nextInt(Integer.MAX_VALUE)),
                Integer.getInteger("syncguard.stress.seconds", seconds),
                Integer.getInteger("syncguard.stress.workers", 3),
                Integer.getInteger("syncguard.stress.clients", 4));
    }

    /** Creates a directory for the files of one run, in {@code target}. Runs with the same seed get separate ones. */
    public Path newDirectory(String kind) throws IOException {
        return Files.createTempDirectory(Files.createDirectories(Path.of("target", kind)), seed + "-");
    }
}
