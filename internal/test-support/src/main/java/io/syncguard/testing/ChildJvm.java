package io.syncguard.testing;

import io.syncguard.embedded.Signals;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * A child process: a JVM that runs a main class of the test class path and answers lines with lines. A test can pause
 * and kill it. It always ends with this process, because its input ends then.
 *
 * <p>Only one thread at a time may use it.
 */
public final class ChildJvm implements AutoCloseable {

    /** The limit for an answer, in seconds. The answer to the first question includes the start. */
    private static final long PATIENCE_SECONDS = 60;

    private static final String END = "\0end";

    private final Process process;
    private final Path errors;
    private final Writer questions;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

    private ChildJvm(Process process, Path errors) {
        this.process = process;
        this.errors = errors;
        this.questions = process.outputWriter(StandardCharsets.UTF_8);
        Thread reader = new Thread(this::readAnswers, "child-" + process.pid());
        reader.setDaemon(true);
        reader.start();
    }

    /** Starts a class whose {@code main} calls {@link #serve}. */
    public static ChildJvm start(Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx128m",
                // The JVM warns of each thread that it cannot start. By default it writes to the output of answers,
                // where the parent would take the warning for the answer, and each answer for the next one.
                "-Xlog:disable",
                "-Xlog:all=warning:stderr",
                "-cp",
                // Surefire may have started this JVM with a jar that only lists the class path.
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                main.getName()));
        command.addAll(List.of(arguments));
        try {
            Path errors = Files.createTempFile("child-", ".log");
            errors.toFile().deleteOnExit();
            return new ChildJvm(
                    ThreadShortage.newProcess(command)
                            .redirectError(errors.toFile())
                            .start(),
                    errors);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /**
     * Called in the child: answers each line with one line until the parent closes the input or ends. Printed output
     * goes to the log.
     */
    public static void serve(UnaryOperator<String> answer) throws IOException {
        PrintStream answers = System.out;
        System.setOut(System.err);
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String question = questions.readLine(); question != null; question = questions.readLine()) {
            answers.println(answer.apply(question));
            answers.flush();
        }
        System.exit(0);
    }

    /** Sends a line and waits for the answer. */
    public String ask(String question) {
        return ask(question, PATIENCE_SECONDS);
    }

    /** The same with another limit, for a question that takes longer. */
    public String ask(String question, long patienceSeconds) {
        try {
            questions.write(question + "\n");
            questions.flush();
            String answer = answers.poll(patienceSeconds, TimeUnit.SECONDS);
            if (answer == null || answer.equals(END)) {
                throw new IllegalStateException("No answer from the child. Its log: " + Files.readString(errors));
            }
            return answer;
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }

    /**
     * Waits until the process has ended by itself.
     *
     * @return its log
     */
    public String awaitEnd(Duration atMost) {
        try {
            if (!process.waitFor(atMost.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException("The child runs on. Its log: " + Files.readString(errors));
            }
            return Files.readString(errors);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }

    /** Suspends the process at an arbitrary point, like a frozen virtual machine. */
    public void pause() {
        signal("STOP");
    }

    /**
     * Keeps the process from starting threads until {@link #giveThreads}. The process must call
     * {@link ThreadShortage#begin} when it gets this question.
     */
    public void takeThreads(String question) {
        ThreadShortage.limit(process.pid());
        ask(question);
    }

    /** Lets the process start threads again. */
    public void giveThreads(String question) {
        ThreadShortage.unlimit(process.pid());
        ask(question);
    }

    /** Resumes a paused process. */
    public void resume() {
        signal("CONT");
    }

    /** Kills the process without any clean-up, even if it is paused. */
    public void kill() {
        process.destroyForcibly();
        try {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("The child does not die");
            }
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }

    @Override
    public void close() {
        kill();
    }

    private void signal(String name) {
        if (!Signals.send(name, List.of(process.pid()))) {
            throw new IllegalStateException("The child could not be sent SIG" + name);
        }
    }

    private void readAnswers() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                answers.add(line);
            }
        } catch (IOException ex) {
            // The child has been killed.
        } finally {
            answers.add(END);
        }
    }
}
