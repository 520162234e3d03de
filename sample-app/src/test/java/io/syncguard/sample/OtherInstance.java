package io.syncguard.sample;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Another instance of the sample, in a process of its own. */
final class OtherInstance implements AutoCloseable {

    static final String CLASS_PATH =
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));

    private final Process process;

    private OtherInstance(Process process) {
        this.process = process;
    }

    static OtherInstance start(List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("-cp", CLASS_PATH, SampleApplication.class.getName()));
        command.addAll(arguments);
        return new OtherInstance(java(command, new File("target", "other-instance.log")));
    }

    /** Starts another JVM. */
    static Process java(List<String> arguments, File log) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC"));
        command.addAll(arguments);
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log)
                .start();
    }

    /** Kills the process, which has no time to release anything. */
    void kill() {
        process.destroyForcibly();
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
