package io.syncguard.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class ListingChartTests {

    @Test
    void each_lock_has_a_bar_for_each_store() {
        String svg = ListingChart.svg(List.of(
                "PostgreSQL 18.6, fsync = on",
                "",
                "free keys, 1 thread: pairs/s",
                "  SyncGuard            min 1 median 100.40 max 300",
                "  raw statements       min 1 median 400 max 600",
                "  SyncGuard / ShedLock min 1 median 2 max 3",
                "",
                "free keys, 1 thread: latency of a pair, ms: medians",
                "  SyncGuard            min 1 median 7 max 9",
                "Redis 6.2.11, appendonly = no",
                "free keys, 64 threads: pairs/s",
                "  Redisson             min 1 median 200 max 300"));

        assertThat(svg)
                .contains("PostgreSQL, 1 thread", "SyncGuard: 100<", "Redis, 64 threads", "Redisson: 200<")
                .doesNotContain("raw statements", "ShedLock", ": 7");
    }

    @Test
    void the_picture_of_the_page_has_the_figures_of_the_results() throws IOException {
        assertThat(Path.of("../../docs/images/free-keys.svg"))
                .content()
                .isEqualTo(ListingChart.svg(Files.readAllLines(Path.of("results/listing.txt"))));
    }
}
