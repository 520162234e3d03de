package io.syncguard.embedded;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.FileSystemUtils;

/**
 * The process of a shared server. No Java process is its parent.
 *
 * @param program part of the name of the program
 * @param directory the files of the server, removed with it
 */
record ServerProcess(String program, long pid, Path directory) {

    private static final Logger LOG = LoggerFactory.getLogger(ServerProcess.class);

    private static final Duration TIME_TO_STOP = Duration.ofSeconds(10);

    static Path log(Path directory) {
        return directory.resolve("server.log");
    }

    /** Stops the server and removes its directory. The server ends when its last client is gone. */
    void stop() throws IOException {
        ProcessHandle process = ProcessHandle.of(pid)
                // The id of a server behind a forwarded port is from another system. Here it means another process.
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
        // onExit() would look only every few seconds, because the process is no child of this one.
        return Patience.await(TIME_TO_STOP, () -> !process.isAlive());
    }

    @Override
    public String toString() {
        return program + ", process " + pid + ", files in " + directory;
    }
}
