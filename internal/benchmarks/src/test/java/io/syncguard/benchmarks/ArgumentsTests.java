package io.syncguard.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Shows what the arguments mean. */
class ArgumentsTests {

    @Test
    void without_arguments_everything_is_measured() {
        assertThat(Arguments.parse())
                .isEqualTo(new Arguments(new Rounds(5, Duration.ofSeconds(4), true), List.of(), null));
    }

    @Test
    void rounds_seconds_and_names_may_be_given() {
        assertThat(Arguments.parse("3", "2", "free", "hot"))
                .isEqualTo(new Arguments(new Rounds(3, Duration.ofSeconds(2), true), List.of("free", "hot"), null));
    }

    @Test
    void the_directory_of_the_charts_may_stand_anywhere() {
        assertThat(List.of(
                        Arguments.parse("--charts", "pictures", "3", "2", "free"),
                        Arguments.parse("3", "--charts", "pictures", "2", "free"),
                        Arguments.parse("3", "2", "free", "--charts", "pictures")))
                .containsOnly(new Arguments(
                        new Rounds(3, Duration.ofSeconds(2), true), List.of("free"), Path.of("pictures")));
    }

    @Test
    void a_short_run_may_have_names_and_charts() {
        assertThat(Arguments.parse("--short", "free", "--charts", "pictures"))
                .isEqualTo(new Arguments(Rounds.SHORT, List.of("free"), Path.of("pictures")));
    }

    @Test
    void what_cannot_be_measured_is_refused() {
        assertThatIllegalArgumentException().isThrownBy(() -> Arguments.parse("0"));
        assertThatIllegalArgumentException().isThrownBy(() -> Arguments.parse("1", "21"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Arguments.parse("--charts"))
                .withMessage("--charts needs a directory");
    }
}
