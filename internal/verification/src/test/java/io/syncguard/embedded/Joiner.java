package io.syncguard.embedded;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Another process of this user, which uses servers until its input ends or it is killed. */
final class Joiner implements AutoCloseable {

    private static final String NAME = "syncguard-test";

    private static final String ANSWER = "Answer: ";

    private final Process process;
    private final String answer;

    private Joiner(Process process, String answer) {
        this.process = process;
        this.answer = answer;
    }

    /**
     * Waits until the process uses its server, or cannot.
     *
     * @param server {@code postgres} or {@code redis}, or {@code own} for one of each that it does not share
     * @param options of the JVM
     */
    static Joiner start(Path temporary, String server, int port, String... options) throws IOException {
        sharePrograms(temporary);
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Djava.io.tmpdir=" + temporary);
        command.addAll(List.of(options));
        command.add("-cp");
        command.add(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
        command.addAll(List.of(Joiner.class.getName(), server, Integer.toString(port)));
        Process process = new ProcessBuilder(command)
                .redirectError(Redirect.appendTo(new File("target", "joiner.log")))
                .start();
        return new Joiner(process, answerOf(process));
    }

    /** Unpacking them again would take most of a test's time. */
    private static void sharePrograms(Path temporary) throws IOException {
        Path programs = Path.of("target", "programs").toAbsolutePath();
        Path link = UserDirectory.in(temporary).resolve("binaries");
        if (!Files.exists(link)) {
            Files.createSymbolicLink(link, Files.createDirectories(programs));
        }
    }

    /** The line behind those of the log. */
    private static String answerOf(Process process) throws IOException {
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        String line = output.readLine();
        while (line != null && !line.startsWith(ANSWER)) {
            line = output.readLine();
        }
        return String.valueOf(line);
    }

    /** The URL of the server, or why there is none and what to do. */
    String answer() {
        return answer;
    }

    void kill() {
        process.destroyForcibly().onExit().join();
    }

    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
        process.onExit().join();
    }

    public static void main(String[] arguments) throws Exception {
        SharedServer shared = new SharedServer(NAME, Integer.parseInt(arguments[1]), "set the port");
        try (Closeable server = use(arguments[0], shared)) {
            System.in.read();
            System.out.println("leaves " + server);
        } catch (ServerNotStartedException ex) {
            System.out.println(ANSWER + ex.getMessage() + ": " + ex.remedy());
        }
    }

    private static Closeable use(String server, SharedServer shared) throws Exception {
        switch (server) {
            case "postgres" -> {
                SharedDatabase postgres = SharedDatabase.postgres(shared);
                System.out.println(ANSWER + postgres.url());
                return postgres;
            }
            case "redis" -> {
                SharedRedis redis = SharedRedis.join(shared);
                System.out.println(ANSWER + "redis://127.0.0.1:" + redis.port());
                return redis;
            }
            default -> {
                System.out.println(ANSWER + new OwnPostgres().url() + " " + new OwnRedis().url());
                return () -> {};
            }
        }
    }
}
