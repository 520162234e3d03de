package io.syncguard.verification.planted;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.Trial;
import io.syncguard.verification.bugs.Bug;
import io.syncguard.verification.planted.Hunt.Catch;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The harness catches planted bugs within a minute, and finds nothing without one. {@code -Dsyncguard.planted} names
 * bugs; {@code none} is for the runs without a bug, and {@code all} for everything.
 */
@Tag("verification")
@EnabledIfSystemProperty(
        named = "syncguard.planted",
        matches = ".+",
        disabledReason = "takes half an hour: use the profile planted")
class PlantedBugsTests {

    private static final String ALL = "all";
    private static final int SECONDS = 60;
    private static final long SEED = Long.getLong("syncguard.planted.seed", 1);

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("chosen")
    void is_caught(Hunt hunt) throws Exception {
        Optional<Catch> caught = hunt.run(SEED, SECONDS);

        caught.ifPresent(found -> System.out.printf(
                Locale.ROOT,
                "| %s | `%s` | %s | %s | %d | %.0f |%n%s%n",
                hunt.bug().what(),
                hunt,
                String.join(", ", found.rules()),
                hunt.trial(),
                found.operations(),
                found.seconds(),
                found.violation()));
        assertThat(caught).as(hunt.bug().what()).isPresent();
    }

    /** Otherwise the test above would prove nothing. */
    @ParameterizedTest
    @MethodSource("io.syncguard.verification.planted.Hunts#trials")
    @EnabledIfSystemProperty(named = "syncguard.planted", matches = ALL + "|none")
    void nothing_is_found_without_a_bug(Trial trial) throws Exception {
        assertThat(new Hunt(Bug.NONE, trial).run(SEED, SECONDS)).isEmpty();
    }

    static List<Hunt> chosen() {
        String names = System.getProperty("syncguard.planted");
        List<Bug> chosen = names.equals(ALL)
                ? List.of(Bug.values())
                : Arrays.stream(names.split(",")).map(Bug::named).toList();
        return Hunts.all().stream().filter(hunt -> chosen.contains(hunt.bug())).toList();
    }
}
