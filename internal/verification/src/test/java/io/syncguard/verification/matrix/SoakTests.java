package io.syncguard.verification.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.util.FileSystemUtils;

/**
 * An hour of work under faults on each store, both at a time. {@code syncguard.soak.minutes} sets the time, and
 * {@code syncguard.results} the directory that gets the results.
 */
@Tag("verification")
@EnabledIfSystemProperty(named = "syncguard.soak.minutes", matches = "\\d+", disabledReason = "takes an hour")
@Execution(ExecutionMode.CONCURRENT)
class SoakTests {

    private static final Duration TOLERANCE = Duration.ofMillis(Long.getLong("syncguard.matrix.tolerance", 1000));

    /** The number of measurements in a run. */
    private static final int MEASUREMENTS = 180;

    static Stream<Plan<?>> plans() {
        return Plans.OF_SOAK.stream();
    }

    @ParameterizedTest
    @MethodSource("plans")
    void nothing_grows_and_nothing_is_left(Plan<?> plan) throws Exception {
        Duration duration = Duration.ofMinutes(Integer.getInteger("syncguard.soak.minutes"));
        long seed = Long.getLong("syncguard.stress.seed", new Random().nextInt(Integer.MAX_VALUE));
        Soak.Report report = plan.soak(new Soak.Settings(duration, duration.dividedBy(MEASUREMENTS), TOLERANCE), seed);
        System.out.println(report.campaign());
        write(report);
        assertThat(report.violations())
                .as(plan + " with -Dsyncguard.stress.seed=" + seed + ", histories in "
                        + report.campaign().directory())
                .isEmpty();
        FileSystemUtils.deleteRecursively(report.campaign().directory());
    }

    private static synchronized void write(Soak.Report report) throws Exception {
        String results = System.getProperty("syncguard.results");
        if (results != null) {
            SoakResults.write(Path.of(results), report);
        }
    }
}
