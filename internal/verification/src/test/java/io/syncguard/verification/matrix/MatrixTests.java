package io.syncguard.verification.matrix;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.util.FileSystemUtils;

/**
 * Every campaign of the matrix, two at a time; in a usual build, a few faults of one server of each store.
 * {@code syncguard.matrix.rounds} is the number of rounds of each fault, {@code syncguard.matrix.plans} an expression
 * for the names of the campaigns, {@code syncguard.matrix.tolerance} the milliseconds by which times may be longer than
 * promised, and {@code syncguard.results} the directory that gets the results.
 */
@Execution(ExecutionMode.CONCURRENT)
class MatrixTests {

    private static final int ROUNDS = Integer.getInteger("syncguard.matrix.rounds", 1);

    /** More are several campaigns: the history of a key stays short, and the results of those before remain. */
    private static final int MOST_ROUNDS = 10;

    /** In a build, other tests use the same processors. */
    private static final Duration TOLERANCE = Duration.ofMillis(Long.getLong("syncguard.matrix.tolerance", 20_000));

    private static final String PLANS = System.getProperty("syncguard.matrix.plans");

    private static final Pattern FAULTS = Pattern.compile(System.getProperty("syncguard.matrix.faults", ".*"));

    private static final String RESULTS = System.getProperty("syncguard.results");

    static Stream<Plan<?>> plans() {
        if (PLANS != null) {
            return Plans.ALL.stream().filter(plan -> plan.name().matches(PLANS));
        }
        return (Boolean.getBoolean("syncguard.verification") ? Plans.OF_VERIFICATION : Plans.OF_BUILD).stream();
    }

    @ParameterizedTest
    @MethodSource("plans")
    void no_rule_is_broken(Plan<?> plan) throws Exception {
        SoftAssertions judgement = new SoftAssertions();
        for (int left = ROUNDS; left > 0; left -= MOST_ROUNDS) {
            run(plan, Math.min(left, MOST_ROUNDS), judgement);
        }
        judgement.assertAll();
    }

    private static void run(Plan<?> plan, int rounds, SoftAssertions judgement) throws Exception {
        long seed = Long.getLong("syncguard.stress.seed", new Random().nextInt(Integer.MAX_VALUE));
        CampaignReport report = plan.only(FAULTS).run(rounds, seed, TOLERANCE);
        System.out.println(report);
        if (RESULTS != null) {
            MatrixResults.OF_RUNS.add(report);
        }
        judgement
                .assertThat(report.violations())
                .as(plan + " with -Dsyncguard.stress.seed=" + seed + ", histories in " + report.directory())
                .isEmpty();
        if (report.violations().isEmpty()) {
            FileSystemUtils.deleteRecursively(report.directory());
        }
    }

    @AfterAll
    static void write() throws IOException {
        if (RESULTS != null) {
            MatrixResults.OF_RUNS.write(Path.of(RESULTS));
        }
    }
}
