package io.syncguard.verification.matrix;

import io.syncguard.embedded.RunDirectory;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.springframework.util.FileSystemUtils;

/**
 * Stops all threads of a JVM, as a long garbage collection does. The JVM collects its garbage and blocks while it
 * writes a heap dump into a pipe without a reader.
 */
final class Safepoint {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final long LOOK_NANOS = 1_000_000;

    private Safepoint() {}

    /** Stops the JVM with this process id during this action. */
    static void hold(long pid, Runnable meanwhile) throws IOException, InterruptedException {
        Path directory = RunDirectory.newDirectory("heap");
        Path pipe = directory.resolve("dump");
        succeed("mkfifo", new ProcessBuilder("mkfifo", pipe.toString()).start());
        Process jcmd = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                        Long.toString(pid),
                        "GC.heap_dump",
                        "-overwrite",
                        pipe.toString())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile())
                .start();
        // Opened for reading and writing: otherwise the open would wait for the JVM, forever if that fails.
        try (RandomAccessFile dump = new RandomAccessFile(pipe.toFile(), "rw");
                InputStream heap = new FileInputStream(dump.getFD())) {
            Awaitility.await("a heap dump of process " + pid)
                    .atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> heap.available() > 0);
            meanwhile.run();
            drain(heap, jcmd);
        }
        succeed("jcmd, whose output is in " + directory + ",", jcmd);
        FileSystemUtils.deleteRecursively(directory);
    }

    private static void drain(InputStream heap, Process writer) throws IOException {
        byte[] buffer = new byte[1 << 16];
        while (writer.isAlive()) {
            while (heap.available() > 0) {
                heap.read(buffer);
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    private static void succeed(String command, Process process) throws InterruptedException {
        if (process.waitFor() != 0) {
            throw new IllegalStateException(command + " failed with status " + process.exitValue());
        }
    }
}
