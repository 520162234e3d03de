package io.syncguard.embedded;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.FileSystemUtils;

/**
 * The process of a shared server, which no Java process is the parent of.
 *
 * @param program part of the name of its program
 * @param directory its files, removed with it
 */
record ServerProcess(String program, long pid, Path directory) {

    private static final Logger LOG = LoggerFactory.getLogger(ServerProcess.class);

    private static final Duration TIME_TO_STOP = Duration.ofSeconds(10);

    static Path log(Path directory) {
        return directory.resolve("server.log");
    }

    /** Stops the server, which ends when its last client is gone, and removes its directory. */
    void stop() throws IOException {
        ProcessHandle process = ProcessHandle.of(pid)
                // A server behind a forwarded port has its id from another system, where it means another process.
                .filter(found -> found.info().command().orElse("").contains(program))
                .orElse(null);
        if (process != null && process.destroy() && hasEnded(process)) {
            FileSystemUtils.deleteRecursively(directory);
            LOG.info("Stopped {}", this);
        } else {
            LOG.info("Does not stop: {}", this);
        }
    }

    private static boolean hasEnded(ProcessHandle process) {
        // Not onExit(): where the process is no child of this one, that looks only every few seconds.
        return Patience.await(TIME_TO_STOP, () -> !process.isAlive());
    }

    @Override
    public String toString() {
        return program + ", process " + pid + ", files in " + directory;
    }
}
