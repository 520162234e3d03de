package io.syncguard.verification.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

/** All properties hold in all states of the model, and each of its rules is needed for one of them. */
@Tag("verification")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ProtocolModelTests {

    private static final boolean LONG = System.getProperty("syncguard.model") != null;

    /** Two callers, without a queue or without faults: both together multiply the states. */
    private static final List<String> SMALL = List.of(
            "TTL=1 ALL_TRY COMMITS",
            "TTL=1 ALL_TRY CLOCK_FENCES",
            "TTL=1 ALL_TRY SHARED",
            "TTL=1 ALL_TRY PERMITS",
            "TTL=1 ALL_TRY KEYS=2",
            "TTL=1 ALL_WAIT WITHOUT_FAULTS TOGETHER",
            "TTL=1 POLL=3 WAITER_TTL=4 ALL_WAIT WITHOUT_FAULTS APART",
            "LIVENESS WAITER_TTL=2 WITHOUT_FAULTS");

    /** A build has time for a few. */
    private static final List<Removal> REMOVALS = LONG ? Removal.ALL : Removal.ALL.subList(0, 6);

    private final ExecutorService searches = Executors.newFixedThreadPool(LONG ? 2 : 1);
    private final Map<String, Future<Verdict>> verdicts = new HashMap<>();

    /** One at a time in a build, beside other tests. */
    @BeforeAll
    void search(@TempDir Path directory) {
        Spin.assumeInstalled();
        SMALL.forEach(configuration -> begin(directory, configuration));
        REMOVALS.forEach(removal -> begin(directory, flags(removal)));
    }

    @AfterAll
    void end() {
        searches.shutdownNow();
    }

    @ParameterizedTest
    @FieldSource("SMALL")
    void all_properties_hold(String configuration) throws Exception {
        assertHolds(verdicts.get(configuration).get());
    }

    @ParameterizedTest
    @FieldSource("REMOVALS")
    void without_the_rule_a_property_breaks(Removal removal) throws Exception {
        Verdict verdict = verdicts.get(flags(removal)).get();

        assertThat(verdict.violated()).as(verdict.output()).isEqualTo(removal.property());
    }

    /** Takes six minutes and 2.5 GB. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "TTL=1",
                "TTL=2 APART",
                "TTL=1 COMMITS APART",
                "TTL=1 CLOCK_FENCES APART",
                "TTL=1 SHARED APART",
                "TTL=1 ALL_WAIT WITHOUT_FAULTS APART PERMITS",
                "TTL=1 POLL=3 WAITER_TTL=4 ALL_WAIT WITHOUT_FAULTS APART PERMITS",
                "LIVENESS WAITER_TTL=2 ALL_WAIT",
                "N=3 KEYS=2 TTL=1 ALL_TRY WITHOUT_FAULTS"
            })
    @EnabledIfSystemProperty(named = "syncguard.model", matches = "large")
    void all_properties_hold_in_larger_configurations(String configuration, @TempDir Path directory) throws Exception {
        Verdict verdict = spin(directory, configuration).check(true);

        System.out.println(configuration + ": " + verdict.output());
        assertHolds(verdict);
    }

    private static void assertHolds(Verdict verdict) {
        assertThat(verdict.violated()).as(verdict.output()).isNull();
        assertThat(verdict.complete()).as(verdict.output()).isTrue();
    }

    private static String flags(Removal removal) {
        return removal.rule() + " " + String.join(" ", removal.configuration());
    }

    private void begin(Path directory, String configuration) {
        verdicts.put(
                configuration,
                searches.submit(() -> spin(directory, configuration).check(false)));
    }

    private static Spin spin(Path directory, String configuration) throws IOException {
        return new Spin(
                directory.resolve(configuration.replace(' ', '_')),
                Stream.of(configuration.split(" ")).toList());
    }
}
