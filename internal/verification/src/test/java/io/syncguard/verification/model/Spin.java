package io.syncguard.verification.model;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Runs Spin on the model, with the macros of one configuration, in a directory of its own. Spin writes a verifier in C,
 * the compiler makes a program of it, and that visits all states.
 */
public final class Spin {

    private static final Path MODEL = Path.of("src/test/model");

    /** No search of a build is as deep. */
    private static final String DEPTH = "30000000";

    private final Path directory;
    private final List<String> macros;

    public Spin(Path directory, List<String> macros) throws IOException {
        this.directory = Files.createDirectories(directory);
        this.macros = macros;
        try (Stream<Path> files = Files.list(MODEL)) {
            for (Path file : files.toList()) {
                Files.copy(file, directory.resolve(file.getFileName()));
            }
        }
    }

    /** Skips the tests where a program is missing. */
    public static void assumeInstalled() {
        for (String program : List.of("spin", "gcc")) {
            boolean found = Stream.of(System.getenv("PATH").split(File.pathSeparator))
                    .anyMatch(each -> Files.isExecutable(Path.of(each, program)));
            assumeTrue(found, "no " + program + ": install Debian's package " + program);
        }
    }

    /**
     * Visits all states.
     *
     * @param optimised takes the compiler ten seconds longer, and makes the search three times as fast
     */
    Verdict check(boolean optimised) throws IOException, InterruptedException {
        List<String> generate = new ArrayList<>(List.of("spin"));
        macros.forEach(macro -> generate.add("-D" + macro));
        generate.addAll(List.of("-a", "protocol.pml"));
        run(generate, "");
        boolean liveness = macros.contains("LIVENESS");
        List<String> compile = new ArrayList<>(List.of("gcc", "-w", optimised ? "-O2" : "-O0"));
        compile.addAll(liveness ? List.of("-DNFAIR=3") : List.of("-DSAFETY"));
        if (optimised) {
            compile.add("-DCOLLAPSE");
        }
        compile.addAll(List.of("-o", "pan", "pan.c"));
        run(compile, "");
        List<String> search = new ArrayList<>(List.of("./pan", "-m" + (optimised ? DEPTH : "3000000")));
        if (liveness) {
            search.addAll(List.of("-a", "-f"));
        }
        return Verdict.of(run(search, ""));
    }

    /** Replays a run of the store, in the format of {@code replay.pml}. Returns what that prints. */
    public String replay(String run) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("spin"));
        macros.forEach(macro -> command.add("-D" + macro));
        command.addAll(List.of("-T", "replay.pml"));
        return run(command, run);
    }

    private String run(List<String> command, String input) throws IOException, InterruptedException {
        Path read = Files.writeString(directory.resolve("input"), input);
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectInput(read.toFile())
                .redirectErrorStream(true)
                .start();
        try {
            String output = new String(process.getInputStream().readAllBytes());
            process.waitFor();
            return output;
        } finally {
            process.destroyForcibly();
        }
    }
}
