package io.syncguard.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.io.PrintStream;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Shows that the comparison starts its servers, runs and reports. {@link CompareTests} has the rest. */
class CompareFreeKeysTests {

    @Test
    void everybody_has_done_something_on_redis() throws Exception {
        assertWorks(Store.REDIS);
    }

    @Tag("verification")
    @Test
    void everybody_has_done_something_on_postgres() throws Exception {
        assertWorks(Store.POSTGRES);
    }

    @Tag("verification")
    @Test
    void everybody_has_done_something_on_mariadb() throws Exception {
        assertWorks(Store.MARIADB);
    }

    private static void assertWorks(Store store) throws Exception {
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
        Report report = Compare.run(store, Rounds.SHORT, List.of("free", "redis-free", "mariadb-free"), nowhere);

        assertThat(report.rows())
                .filteredOn(row -> row.title().endsWith("pairs/s"))
                .hasSizeGreaterThan(10)
                .allSatisfy(row -> assertThat(row.figures().get(0)).isPositive());
    }
}
