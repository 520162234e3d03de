package io.syncguard.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.io.PrintStream;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shows that the comparison starts its servers, runs and reports. {@link CompareTests} has the rest. */
class CompareFreeKeysTests {

    @ParameterizedTest
    @EnumSource
    void everybody_has_done_something(Store store) throws Exception {
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
        Report report = Compare.run(store, Rounds.SHORT, List.of("free", "redis-free"), nowhere);

        assertThat(report.rows())
                .filteredOn(row -> row.title().endsWith("pairs/s"))
                .hasSizeGreaterThan(10)
                .allSatisfy(row -> assertThat(row.figures().get(0)).isPositive());
    }
}
