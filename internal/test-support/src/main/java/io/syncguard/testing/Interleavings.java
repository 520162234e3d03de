package io.syncguard.testing;

import java.io.IOException;
import java.util.List;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionResult;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.kotlinx.lincheck.util.ExceptionResult;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.verifier.Verifier;

/**
 * Lincheck's model checker. It runs a scenario repeatedly and switches between its threads at different places each
 * time: first all runs without an unforced switch, then all with one, and so on.
 *
 * <p>A scenario is a public class with a public constructor without parameters. Its {@code run} has the annotation
 * {@code Operation}. It starts the threads, waits for their end, and throws if a condition does not hold.
 */
public final class Interleavings {

    /** The factor for the number of runs; 1 in a build. */
    public static final int LENGTH = Integer.getInteger("syncguard.interleavings", 1);

    /** The limit for one scenario. */
    public static final long PATIENCE_SECONDS = 120L * LENGTH;

    /** A thread that repeats a loop more often waits. Iterating over a new {@code ConcurrentHashMap} takes 16. */
    private static final int ITERATIONS = 20;

    /** Lincheck's default is too short on a machine under load, because the first run transforms classes. */
    private static final long RUN_MILLIS = 100_000;

    /** The report of Lincheck if no thread can proceed. If a run took too long, the report says more. */
    public static final String HUNG = "= The execution has hung =";

    private Interleavings() {}

    /** Some threads, and a condition that must hold for every interleaving. */
    public interface Scenario {
        void run() throws Exception;
    }

    /**
     * Explores scenarios.
     *
     * @param runs the maximum number of runs of each scenario in a build
     * @return the result of each scenario: {@code holds in 300 runs}, {@code holds in 210 runs, which are all}, or
     *     {@code fails in run 17: …}
     */
    public static List<String> explore(int runs, List<Class<? extends Scenario>> scenarios) {
        // Runs in another process, because Lincheck rewrites classes that the JVM has loaded.
        try (ChildJvm child = ChildJvm.start(Interleavings.class)) {
            return scenarios.stream()
                    .map(scenario -> child.ask(question(runs, scenario), PATIENCE_SECONDS))
                    .toList();
        }
    }

    /**
     * Explores one scenario.
     *
     * @return the result, which contains {@link #HUNG} if the threads wait for each other forever
     */
    public static String explore(int runs, Class<? extends Scenario> scenario) {
        return explore(runs, List.of(scenario)).get(0);
    }

    private static String question(int runs, Class<?> scenario) {
        return runs * LENGTH + " " + scenario.getName();
    }

    /** Starts a thread of a scenario. */
    public static Thread started(Runnable work) {
        Thread thread = new Thread(work);
        thread.start();
        return thread;
    }

    /** Fails the run of a scenario unless the condition holds. AssertJ does not work in the model checker. */
    public static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError("It does not hold that " + what);
        }
    }

    public static void main(String[] arguments) throws IOException {
        ChildJvm.serve(question -> {
            String[] words = question.split(" ");
            return explore(Integer.parseInt(words[0]), words[1]);
        });
    }

    private static String explore(int mostRuns, String scenario) {
        ExceptionVerifier.runs = 0;
        try {
            new ModelCheckingOptions()
                    .threads(1)
                    .actorsPerThread(1)
                    .actorsBefore(0)
                    .actorsAfter(0)
                    .iterations(1)
                    .invocationsPerIteration(mostRuns)
                    .minimizeFailedScenario(false)
                    .loopIterationsBeforeThreadSwitch(ITERATIONS)
                    .loopBound(10 * ITERATIONS)
                    .verifier(ExceptionVerifier.class)
                    .invocationTimeout$lincheck(RUN_MILLIS)
                    .check(Class.forName(scenario));
            int runs = ExceptionVerifier.runs;
            return "holds in " + runs + " runs" + (runs < mostRuns ? ", which are all" : "");
        } catch (Throwable ex) {
            return "fails in run " + ExceptionVerifier.runs + ": "
                    + ex.toString().replace('\n', '/');
        }
    }

    /** Rejects a run that throws. Lincheck creates the verifier. */
    public static final class ExceptionVerifier implements Verifier {

        private static int runs;

        public ExceptionVerifier(Class<?> scenario) {}

        @Override
        public boolean verifyResults(ExecutionScenario scenario, ExecutionResult result) {
            runs++;
            return !(result.getThreadsResultsWithClock().get(0).get(0).getResult() instanceof ExceptionResult);
        }
    }
}
