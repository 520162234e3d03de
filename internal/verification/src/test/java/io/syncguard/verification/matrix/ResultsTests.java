package io.syncguard.verification.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The texts of results, and the page that states their sums. */
class ResultsTests {

    private static final LocalDate DAY = LocalDate.of(2026, 11, 24);

    private static final Pattern ROW = Pattern.compile("(?m)^\\| \\d+ \\| ([^|]+ \\| [^|]+ \\| [^|]+ \\| [^|]+ \\|)$");

    private static final Pattern SUM = Pattern.compile("(?m)^Together: (.*)\\.$");

    @TempDir
    private Path directory;

    @Test
    void the_text_of_the_matrix_has_the_sums_of_all_campaigns() throws Exception {
        MatrixResults results = new MatrixResults(directory.resolve("parts"));
        results.add(report("postgres", 10));
        results.add(report("postgres", 5));
        results.add(report("redis", 7));
        results.add(report("mariadb", 3));

        results.write(directory.resolve("results"));

        assertThat(directory.resolve("results/matrix.txt"))
                .content()
                .contains(
                        "| 1 | a process is killed | 15 | 7 | 3 |\n",
                        "| 3 | the database is killed, or stands still | – | – | – |")
                .contains("\nTogether: 60 calls, 120 requests to the store, 0 violations.\n")
                .contains("\npostgres\n\na server; 2026-11-24.\n30 calls, 60 requests to the store, 0 violations; ")
                .contains("| 1 | a process is killed | 15 | 30 | 20 | 0 | 2 | 0 | 4 | 0 | 9 ms | 11 ms |\n")
                .contains("\nredis\n");
    }

    @Test
    void the_text_of_the_soak_has_the_last_figures_of_each_plan() throws Exception {
        SoakResults.write(directory, soak("postgres", 1));
        SoakResults.write(directory, soak("redis", 2));
        SoakResults.write(directory, soak("postgres", 3));

        assertThat(directory.resolve("soak.txt"))
                .content()
                .contains("\nsoak-postgres\n\na server\n2026-11-24, 60 minutes, 3 faults: 15 calls, ")
                .contains("\nsoak-redis\n\na server\n2026-11-24, 60 minutes, 2 faults: ")
                .contains("| threads | 20.0 | 20.0 | 20.0 | 20.0 |\n")
                .doesNotContain("1 faults");
        assertThat(directory.resolve("soak-redis.svg")).content().contains("<svg");
    }

    @Test
    void the_page_has_the_sums_of_the_results() throws Exception {
        String page = Files.readString(Path.of("../../docs/internals/reliability.md"));
        String matrix = Files.readString(Path.of("results/matrix.txt"));

        assertThat(ROW.matcher(matrix).results())
                .hasSizeGreaterThan(20)
                .allSatisfy(row -> assertThat(page).contains("\n| " + row.group(1)));
        assertThat(SUM.matcher(matrix).results())
                .hasSize(1)
                .allSatisfy(sum -> assertThat(page.replace("\u00a0", "")).contains(sum.group(1)));
    }

    private static CampaignReport report(String plan, int rounds) {
        FaultReport fault = new FaultReport(
                1, "a process is killed", rounds, 15, Map.of(Call.OK, 10L, "LOST", 1L, "NETWORK_TIMEOUT", 2L), 9, 11);
        return new CampaignReport(
                plan, "a server", "", DAY, DAY, List.of(fault), 30, 15, 0, List.of(), Path.of("histories"));
    }

    private static Soak.Report soak(String plan, int faults) {
        Series threads = new Series("threads");
        for (int second = 0; second <= 3600; second += 20) {
            threads.add(second, 20);
        }
        Soak.Settings settings = new Soak.Settings(Duration.ofHours(1), Duration.ofSeconds(20), Duration.ZERO);
        return new Soak.Report(report(plan, faults), settings, List.of(threads), List.of());
    }
}
