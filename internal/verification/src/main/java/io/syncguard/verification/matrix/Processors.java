package io.syncguard.verification.matrix;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The processors that other processes may use. Needs Linux, and {@code taskset} of the package util-linux. */
final class Processors {

    private static final Path TASKSET = Path.of("/usr/bin/taskset");
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String ALLOWED = "Cpus_allowed_list:";
    private static final int MOST_TRIES = 20;

    private Processors() {}

    static boolean canBeAssigned() {
        return Files.isExecutable(TASKSET) && Files.isReadable(STATUS);
    }

    /** Gives all these processes the same processor. */
    static void shareOne(List<Long> pids) throws IOException, InterruptedException {
        assign(pids, allowed().split("[-,]")[0]);
    }

    /** Gives these processes the processors of this one again. */
    static void shareAll(List<Long> pids) throws IOException, InterruptedException {
        assign(pids, allowed());
    }

    /** The processors of this process as a list like {@code 0-3,6}. */
    private static String allowed() throws IOException {
        return Files.readAllLines(STATUS).stream()
                .filter(line -> line.startsWith(ALLOWED))
                .map(line -> line.substring(ALLOWED.length()).strip())
                .findFirst()
                .orElseThrow();
    }

    private static void assign(List<Long> pids, String processors) throws IOException, InterruptedException {
        for (long pid : pids) {
            int tries = 1;
            // The program fails if one of the threads ends meanwhile.
            while (!assign(pid, processors)) {
                if (++tries > MOST_TRIES) {
                    throw new IllegalStateException("taskset failed " + MOST_TRIES + " times");
                }
            }
        }
    }

    private static boolean assign(long pid, String processors) throws IOException, InterruptedException {
        return new ProcessBuilder(TASKSET.toString(), "-acp", processors, Long.toString(pid))
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start()
                        .waitFor()
                == 0;
    }
}
