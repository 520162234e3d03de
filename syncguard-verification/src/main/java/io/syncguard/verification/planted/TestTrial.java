package io.syncguard.verification.planted;

import io.syncguard.testing.ChangedLibrary;
import io.syncguard.verification.Trial;
import io.syncguard.verification.WorkerProcess;
import io.syncguard.verification.WorkerProcess.Launch;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The tests of one class as a trial, in a process of their own. Its operations are tests.
 *
 * @param testClass by its full name, on the class path of the tests
 */
record TestTrial(String testClass) implements Trial {

    @Override
    public Verdict run(ChangedLibrary library, long seed) throws Exception {
        Path directory = Files.createTempDirectory(library.directory().getParent(), "tests-");
        WorkerProcess process = new WorkerProcess(
                "tests",
                directory,
                new Launch(TestRun.class, library.directory().toString(), Map.of(), List.of(testClass)));
        if (!process.awaitEnd()) {
            process.kill();
            throw new IllegalStateException("The tests did not end, see " + process.log());
        }
        List<String> output = Files.readAllLines(process.log());
        int tests = linesAfter(TestRun.STARTED, output).size();
        if (tests == 0) {
            throw new IllegalStateException("No tests in " + testClass + ", see " + process.log());
        }
        return new Verdict(tests, linesAfter(TestRun.FAILED, output));
    }

    private static List<String> linesAfter(String mark, List<String> output) {
        return output.stream()
                .filter(line -> line.startsWith(mark))
                .map(line -> line.substring(mark.length()))
                .toList();
    }

    @Override
    public String toString() {
        return testClass.substring(testClass.lastIndexOf('.') + 1);
    }
}
