package io.syncguard.verification;

import io.syncguard.embedded.Signals;
import io.syncguard.testing.ThreadShortage;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The test's view of a child JVM that works until the test ends it.
 */
public final class WorkerProcess {

    /** The process prints this text and its {@link System#nanoTime} as one line when it begins to work. */
    public static final String READY = "ready at ";

    /** The test sends this line when the process can start no threads from now on. */
    public static final String SHORT_OF_THREADS = "short of threads";

    /**
     * The main class of an executable jar, whose own main class gets the name of the worker's main class as its first
     * argument. Otherwise null.
     */
    private static final @Nullable String LAUNCHER = System.getProperty("syncguard.launcher");

    private static final String ENOUGH_THREADS = "enough threads";

    /** Long, because three JVMs start at once on a machine that may be busy. */
    private static final long START_SECONDS = 240;

    private static final long STOP_SECONDS = 60;

    private final String name;
    private final Path history;
    private final Path log;
    private final Process process;
    private final Writer input;
    private final Thread reader;
    private final CompletableFuture<Long> ready = new CompletableFuture<>();
    private final long launchedAt = System.nanoTime();

    /**
     * How to start a process.
     *
     * @param main its main class
     * @param classPath entries before the usual class path; may be empty
     * @param environment variables to add
     * @param arguments of its main method
     */
    public record Launch(Class<?> main, String classPath, Map<String, String> environment, List<String> arguments) {}

    /**
     * Starts the process.
     *
     * @param directory for its files: the log, and a history that the process may write
     */
    public WorkerProcess(String name, Path directory, Launch launch) {
        this.name = name;
        this.history = directory.resolve(name + ".history");
        this.log = directory.resolve(name + ".log");
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                launch.classPath.isEmpty() ? classPath : launch.classPath + File.pathSeparator + classPath));
        // It trusts the same certificates.
        System.getProperties().stringPropertyNames().stream()
                .filter(property -> property.startsWith("javax.net.ssl."))
                .forEach(property -> command.add(2, "-D" + property + "=" + System.getProperty(property)));
        if (LAUNCHER != null) {
            command.add(LAUNCHER);
        }
        command.add(launch.main.getName());
        command.addAll(launch.arguments);
        ProcessBuilder builder = ThreadShortage.newProcess(command).redirectErrorStream(true);
        builder.environment().putAll(launch.environment);
        try {
            this.process = builder.start();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        this.input = process.outputWriter(StandardCharsets.US_ASCII);
        this.reader = new Thread(this::readOutput, "output-of-" + name);
        reader.setDaemon(true);
        reader.start();
    }

    public String name() {
        return name;
    }

    public long pid() {
        return process.pid();
    }

    public Path history() {
        return history;
    }

    /** The output of the process. It is complete when the process has ended. */
    public Path log() {
        return log;
    }

    public void awaitReady() throws Exception {
        long readyAt = ready.get(START_SECONDS, TimeUnit.SECONDS);
        // The checker relies on this: CLOCK_MONOTONIC is one clock for the whole machine, and the JVM returns it
        // unchanged.
        if (readyAt < launchedAt || readyAt > System.nanoTime()) {
            throw new IllegalStateException("System.nanoTime of two processes cannot be compared on this system");
        }
    }

    /** Tells the process to work until this time. */
    public void workUntil(long end) throws IOException {
        deliver(Long.toString(end));
    }

    /** Prevents the process from starting threads, until {@link #giveThreads}. */
    public void takeThreads() throws IOException {
        ThreadShortage.limit(process.pid());
        deliver(SHORT_OF_THREADS);
    }

    public void giveThreads() throws IOException {
        ThreadShortage.unlimit(process.pid());
        deliver(ENOUGH_THREADS);
    }

    /** Writes a line to the input of the process. */
    public void deliver(String line) throws IOException {
        input.write(line + "\n");
        input.flush();
    }

    public void pause() throws Exception {
        signal("STOP");
    }

    public void resume() throws Exception {
        signal("CONT");
    }

    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** Asks the process to end, as a container platform does. */
    public void terminate() {
        process.destroy();
    }

    /** Waits until the process has ended, normally or not. */
    public void awaitExit() throws InterruptedException {
        if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException(name + " did not end within " + STOP_SECONDS + " s, see " + log);
        }
        reader.join();
    }

    /** @return whether the process ended by itself, without an error */
    public boolean awaitEnd() throws InterruptedException {
        if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
            return false;
        }
        reader.join();
        return process.exitValue() == 0;
    }

    private void signal(String signal) {
        Signals.send(signal, List.of(process.pid()));
    }

    private void readOutput() {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(process.getInputStream()));
                Writer writer = Files.newBufferedWriter(log)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(READY)) {
                    ready.complete(Long.valueOf(line.substring(READY.length())));
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
