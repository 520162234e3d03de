package io.syncguard.sample;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Another instance of the sample, in a process of its own. */
final class OtherInstance implements AutoCloseable {

    private final Process process;

    private OtherInstance(Process process) {
        this.process = process;
    }

    static OtherInstance start(List<String> arguments) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<String> command = new ArrayList<>(List.of(java, "-cp", classPath, SampleApplication.class.getName()));
        command.addAll(arguments);
        return new OtherInstance(new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(new File("target", "other-instance.log"))
                .start());
    }

    /** It has no time to release anything. */
    void kill() {
        process.destroyForcibly();
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
