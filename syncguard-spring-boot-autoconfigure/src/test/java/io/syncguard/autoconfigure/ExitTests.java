package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.testing.ChildJvm;
import io.syncguard.testing.UsualBuild;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Work under a lock calls {@link System#exit}, which blocks its thread until the application has ended. */
class ExitTests {

    static Stream<ExitingApplication.Place> places() {
        return UsualBuild.first(3, Stream.of(ExitingApplication.Place.values()));
    }

    @ParameterizedTest
    @MethodSource("places")
    void the_end_does_not_wait_for_the_thread_that_asked_for_it(ExitingApplication.Place place) {
        try (ChildJvm child = ChildJvm.start(ExitingApplication.class, place.name())) {
            String log = child.awaitEnd(ExitingApplication.SHUTDOWN_TIMEOUT.dividedBy(2));

            assertThat(log).contains("exits").doesNotContain("still in use");
        }
    }
}
