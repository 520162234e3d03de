package io.syncguard.verification.planted;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.planted.PlantedBug.Catch;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The harness catches planted bugs. A build plants a few; {@code -Dsyncguard.planted=all} plants all. */
class PlantedBugsTests {

    private static final String ALL = "all";
    private static final String FEW = "check-without-row-lock,deadline-from-reply";
    private static final int SECONDS = 60;

    @ParameterizedTest
    @MethodSource
    void is_caught(PlantedBug bug) throws Exception {
        Optional<Catch> caught = bug.hunt(Long.getLong("syncguard.planted.seed", 1), SECONDS);

        caught.ifPresent(found -> System.out.printf(
                "| %s | %s | %s | %d | %.0f |%n",
                bug.what(), bug.trial(), found.violation(), found.operations(), found.seconds()));
        assertThat(caught).as(bug.what()).isPresent();
    }

    static Stream<PlantedBug> is_caught() {
        String chosen = System.getProperty("syncguard.planted", FEW);
        List<String> names = Arrays.asList(chosen.split(","));
        return PlantedBugs.all().stream().filter(bug -> chosen.equals(ALL) || names.contains(bug.name()));
    }
}
