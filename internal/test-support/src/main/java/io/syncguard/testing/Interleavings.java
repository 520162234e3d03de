package io.syncguard.testing;

import java.io.IOException;
import java.util.List;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionResult;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.kotlinx.lincheck.util.ExceptionResult;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.verifier.Verifier;

/**
 * Lincheck's model checker. It runs a scenario again and again and switches between its threads at other places each
 * time: first all runs without a switch that nothing forces, then all with one, and so on.
 *
 * <p>A scenario is a public class with a public constructor without parameters. Its {@code run} has the annotation
 * {@code Operation}: it starts the threads, waits for their end, and throws if something does not hold.
 */
public final class Interleavings {

    /** How many times as many runs as in a build. */
    public static final int LENGTH = Integer.getInteger("syncguard.interleavings", 1);

    /** The limit for one scenario. */
    public static final long PATIENCE_SECONDS = 120L * LENGTH;

    /** A thread that repeats a loop more often waits. An iteration over a new {@code ConcurrentHashMap} takes 16. */
    private static final int ITERATIONS = 20;

    /** Lincheck's default is too short for a first run, which transforms classes, on a machine under load. */
    private static final long RUN_MILLIS = 100_000;

    /** What Lincheck reports when no thread can go on. It says more when a run took too long. */
    public static final String HUNG = "= The execution has hung =";

    private Interleavings() {}

    /** Some threads, and what must hold however they interleave. */
    public interface Scenario {
        void run() throws Exception;
    }

    /**
     * Explores scenarios.
     *
     * @param runs how many runs each has at most, in a build
     * @return what was found for each: {@code holds in 300 runs}, {@code holds in 210 runs, which are all}, or
     *     {@code fails in run 17: …}
     */
    public static List<String> explore(int runs, List<Class<? extends Scenario>> scenarios) {
        // In another process, because Lincheck rewrites classes that the JVM has loaded.
        try (ChildJvm child = ChildJvm.start(Interleavings.class)) {
            return scenarios.stream()
                    .map(scenario -> child.ask(question(runs, scenario), PATIENCE_SECONDS))
                    .toList();
        }
    }

    /**
     * Explores one scenario.
     *
     * @return the same; for threads that wait for each other forever, it contains {@link #HUNG}
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

    /** Fails the run of a scenario unless this holds. AssertJ is not made to be model checked. */
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

    /** The run must not throw. Lincheck makes it. */
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
