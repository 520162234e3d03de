package io.syncguard.verification;

import io.syncguard.testing.ThreadShortage;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A child JVM that runs {@link StressWorker}, seen from the test.
 */
final class WorkerProcess {

    private static final long START_SECONDS = 60;
    private static final long STOP_SECONDS = 60;

    private final String name;
    private final Path history;
    private final Path log;
    private final Process process;
    private final Writer input;
    private final CompletableFuture<Long> ready = new CompletableFuture<>();
    private final long launchedAt = System.nanoTime();

    /**
     * @param url the server of its locks
     * @param properties further properties of its application
     */
    WorkerProcess(
            String name,
            String url,
            List<String> properties,
            Path directory,
            long seed,
            int clients,
            Duration waiterTtl) {
        this.name = name;
        this.history = directory.resolve(name + ".history");
        this.log = directory.resolve(name + ".log");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                StressWorker.class.getName(),
                name,
                url,
                history.toString(),
                Long.toString(seed),
                Integer.toString(clients),
                Long.toString(waiterTtl.toMillis())));
        command.addAll(properties);
        try {
            this.process =
                    ThreadShortage.newProcess(command).redirectErrorStream(true).start();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        this.input = process.outputWriter(StandardCharsets.US_ASCII);
        Thread reader = new Thread(this::readOutput, "output-of-" + name);
        reader.setDaemon(true);
        reader.start();
    }

    String name() {
        return name;
    }

    Path history() {
        return history;
    }

    /** What it printed. Complete when it has ended. */
    Path log() {
        return log;
    }

    void awaitReady() throws Exception {
        long readyAt = ready.get(START_SECONDS, TimeUnit.SECONDS);
        // The checker relies on this: CLOCK_MONOTONIC is one clock for the whole machine, and the JVM returns it
        // unchanged.
        if (readyAt < launchedAt || readyAt > System.nanoTime()) {
            throw new IllegalStateException("System.nanoTime of two processes cannot be compared on this system");
        }
    }

    /** Lets it work until this time. */
    void workUntil(long end) throws IOException {
        deliver(Long.toString(end));
    }

    /** Prevents it from starting threads, until {@link #giveThreads}. */
    void takeThreads() throws IOException {
        ThreadShortage.limit(process.pid());
        deliver(StressWorker.SHORT_OF_THREADS);
    }

    void giveThreads() throws IOException {
        ThreadShortage.unlimit(process.pid());
        deliver(StressWorker.ENOUGH_THREADS);
    }

    private void deliver(String line) throws IOException {
        input.write(line + "\n");
        input.flush();
    }

    void pause() throws Exception {
        signal("-STOP");
    }

    void resume() throws Exception {
        signal("-CONT");
    }

    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** @return whether it ended by itself, without an error */
    boolean awaitEnd() throws InterruptedException {
        return process.waitFor(STOP_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
    }

    private void signal(String signal) throws Exception {
        new ProcessBuilder("kill", signal, Long.toString(process.pid())).start().waitFor();
    }

    private void readOutput() {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(process.getInputStream()));
                Writer writer = Files.newBufferedWriter(log)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(StressWorker.READY)) {
                    ready.complete(Long.valueOf(line.substring(StressWorker.READY.length())));
                }
                writer.write(line + "\n");
                writer.flush();
            }
            ready.completeExceptionally(new IllegalStateException(name + " did not start, see " + log));
        } catch (IOException ex) {
            ready.completeExceptionally(ex);
        }
    }
}
