package io.syncguard.verification.planted;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.testing.ChangedLibrary;
import io.syncguard.verification.Trial;
import io.syncguard.verification.planted.PlantedBug.Catch;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The harness catches planted bugs within a minute. A build plants a few; {@code -Dsyncguard.planted=all} plants all, and
 * repeats each kind of run without a bug.
 */
class PlantedBugsTests {

    private static final String ALL = "all";
    private static final String NONE = "none";
    private static final String FEW = "deadline-from-reply,heartbeat-by-key,interrupted-release-late";
    private static final int SECONDS = 60;
    private static final long SEED = Long.getLong("syncguard.planted.seed", 1);

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("chosen")
    void is_caught(PlantedBug bug) throws Exception {
        Optional<Catch> caught = bug.hunt(SEED, SECONDS);

        caught.ifPresent(found -> System.out.printf(
                "| %s | %s | %s | %d | %.0f |%n%s: %s%n",
                bug.what(),
                String.join(", ", found.rules()),
                bug.trial(),
                found.operations(),
                found.seconds(),
                bug.name(),
                found.violation()));
        assertThat(caught).as(bug.what()).isPresent();
    }

    /** Otherwise the test above would prove nothing. */
    @ParameterizedTest
    @MethodSource("io.syncguard.verification.planted.PlantedBugs#trials")
    @EnabledIfSystemProperty(named = "syncguard.planted", matches = ALL + "|" + NONE)
    void nothing_is_found_without_a_bug(Trial trial) throws Exception {
        assertThat(PlantedBug.hunt(trial, ChangedLibrary.unchanged(), SEED, SECONDS))
                .isEmpty();
    }

    /** Also those that a build does not plant. */
    @ParameterizedTest
    @MethodSource("io.syncguard.verification.planted.PlantedBugs#all")
    void its_edits_fit(PlantedBug bug) throws Exception {
        assertThat(ChangedLibrary.changedSources(bug.edits())).isNotEmpty();
    }

    static Stream<PlantedBug> chosen() {
        String chosen = System.getProperty("syncguard.planted", FEW);
        List<String> names = Arrays.asList(chosen.split(","));
        List<PlantedBug> bugs = PlantedBugs.all().stream()
                .filter(bug -> chosen.equals(ALL) || names.contains(bug.name()))
                .toList();
        if (!List.of(ALL, NONE).contains(chosen) && bugs.size() < names.size()) {
            throw new IllegalArgumentException("No such bugs: " + chosen);
        }
        return bugs.stream();
    }
}
