package io.syncguard.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Another process that reads commands and writes answers as lines, see {@link Child}. It ends with this process. */
final class ChildProcess implements AutoCloseable {

    private final Process process;
    private final Writer commands;
    private final BufferedReader answers;

    ChildProcess() throws IOException {
        this.process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx512m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        this.commands = process.outputWriter(StandardCharsets.UTF_8);
        this.answers = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Sends a command and waits for the answer. */
    String ask(Object... words) {
        send(words);
        return answer();
    }

    /** Sends a command. */
    void send(Object... words) {
        StringBuilder command = new StringBuilder();
        for (Object word : words) {
            command.append(command.isEmpty() ? "" : " ").append(word);
        }
        try {
            commands.write(command.append('\n').toString());
            commands.flush();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Waits for the answer to the last command. */
    String answer() {
        try {
            String answer = answers.readLine();
            if (answer == null || answer.startsWith(Child.FAILED)) {
                throw new IllegalStateException("The other process has ended. Its last answer: " + answer);
            }
            return answer;
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Kills the process. */
    void kill() {
        process.destroyForcibly();
    }

    @Override
    public void close() {
        kill();
    }
}
