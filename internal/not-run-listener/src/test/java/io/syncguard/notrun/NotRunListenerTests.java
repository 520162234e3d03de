package io.syncguard.notrun;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

class NotRunListenerTests {

    private static final String HERE = "not-run-listener: " + NotRunListenerTests.class.getName();

    @TempDir
    private Path directory;

    static Stream<Arguments> classes() {
        return Stream.of(
                Arguments.of(Vanishing.class, 2, List.of("$Vanishing (3 tests): no browser")),
                Arguments.of(Off.class, 2, List.of("$Off (2 tests): there is no Docker")),
                Arguments.of(Outer.class, 1, List.of("$Outer$Inner.third: no server")),
                Arguments.of(EachTest.class, 0, List.of("$EachTest (2 tests): no pooler")),
                Arguments.of(
                        Some.class,
                        1,
                        List.of("$Some.one: not this one", "$Some.some: not two", "$Some.dynamic: not three")),
                Arguments.of(All.class, 0, List.of()));
    }

    @ParameterizedTest
    @MethodSource("classes")
    void each_skipped_test_is_written_with_its_reason_and_counted(Class<?> skipped, int counted, List<String> lines)
            throws Exception {
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        Path file = directory.resolve("target/not-run.txt");

        // The listener of this build must not hear of these tests.
        LauncherFactory.create(LauncherConfig.builder()
                        .enableTestExecutionListenerAutoRegistration(false)
                        .build())
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectClass(skipped))
                                .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
                                .build(),
                        new NotRunListener(file.toString()),
                        summary);

        assertThat(Files.exists(file) ? Files.readAllLines(file) : List.of())
                .containsExactlyInAnyOrderElementsOf(
                        lines.stream().map(HERE::concat).toList());
        assertThat(summary.getSummary().getTotalFailureCount()).isZero();
        assertThat(summary.getSummary().getTestsSkippedCount()).isEqualTo(counted);
    }

    static class All {

        @Test
        void one() {}
    }

    static class Vanishing extends All {

        @BeforeAll
        static void open() {
            assumeTrue(false, "no browser");
        }

        @AfterAll
        static void close() {
            throw new NullPointerException("browser");
        }

        @Test
        void two() {}

        @ParameterizedTest
        @ValueSource(ints = {1, 2})
        void three(int number) {}
    }

    @Disabled("there is no Docker")
    static class Off extends All {

        @Test
        void two() {}
    }

    static class Outer extends All {

        @Nested
        class Inner {

            @BeforeAll
            static void open() {
                assumeTrue(false, "no server");
            }

            @Test
            void third() {}
        }
    }

    static class EachTest extends All {

        @BeforeEach
        void open() {
            assumeTrue(false, "no pooler");
        }

        @Test
        void two() {}
    }

    static class Some {

        @Disabled("not this one")
        @Test
        void one() {}

        @ParameterizedTest
        @ValueSource(ints = {1, 2})
        void some(int number) {
            assumeTrue(number < 2, "not two");
        }

        @TestFactory
        Stream<DynamicTest> dynamic() {
            return Stream.of(1, 3)
                    .map(number ->
                            DynamicTest.dynamicTest("number " + number, () -> assumeTrue(number < 3, "not three")));
        }
    }
}
