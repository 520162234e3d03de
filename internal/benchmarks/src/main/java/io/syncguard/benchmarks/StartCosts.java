package io.syncguard.benchmarks;

import io.syncguard.embedded.OwnRedis;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The cost of the library in an application: start time, threads, memory. Processes with and without it start in turn.
 * Each sends one request to its store, so that it has connected.
 *
 * <p>Arguments: rounds (9). Starts a PostgreSQL with durable settings and a Redis.
 */
public final class StartCosts {

    private record Figures(double millis, double threads, double heap, double classes) {

        static Figures parse(String line) {
            String[] words = line.split(" ");
            return new Figures(
                    Double.parseDouble(words[0]),
                    Double.parseDouble(words[1]),
                    Double.parseDouble(words[2]),
                    Double.parseDouble(words[3]));
        }
    }

    private StartCosts() {}

    /** Runs the measurement and prints the results. */
    public static void main(String[] args) throws Exception {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 9;
        try (EmbeddedPostgres postgres = Bench.startDurable();
                OwnRedis redis = new OwnRedis()) {
            compare(
                    "PostgreSQL",
                    rounds,
                    Bench.REDIS,
                    "spring.datasource.url=" + postgres.getJdbcUrl("postgres", "postgres"));
            compare("Redis", rounds, Bench.DATA_SOURCE, "spring.data.redis.url=" + redis.url());
        }
    }

    private static void compare(String store, int rounds, String excluded, String url) throws IOException {
        List<Figures> without = new ArrayList<>();
        List<Figures> with = new ArrayList<>();
        // The first process of each kind does not count: it creates the tables and reads the files from the disk.
        for (int round = 0; round <= rounds; round++) {
            Figures plain = start(false, excluded, url);
            Figures guarded = start(true, excluded, url);
            if (round > 0) {
                without.add(plain);
                with.add(guarded);
            }
        }
        print(store + ": without it", without);
        print(store + ": with it", with);
    }

    private static void print(String what, List<Figures> all) {
        System.out.println(Bench.line(
                what + ", start in ms", all.stream().map(Figures::millis).toList()));
        System.out.println(Bench.line(
                what + ", threads", all.stream().map(Figures::threads).toList()));
        System.out.println(Bench.line(
                what + ", heap in kB", all.stream().map(Figures::heap).toList()));
        System.out.println(Bench.line(
                what + ", classes", all.stream().map(Figures::classes).toList()));
    }

    private static Figures start(boolean enabled, String excluded, String url) throws IOException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Application.class.getName(),
                        String.valueOf(enabled),
                        excluded,
                        url)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader answer = process.inputReader(StandardCharsets.UTF_8)) {
            return answer.lines()
                    .filter(line -> line.startsWith("figures "))
                    .map(line -> Figures.parse(line.substring("figures ".length())))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** One process. */
    static final class Application {

        private Application() {}

        public static void main(String[] args) {
            long began = System.nanoTime();
            ConfigurableApplicationContext application = new SpringApplicationBuilder(Bench.Application.class)
                    .properties(
                            "spring.main.banner-mode=off",
                            "spring.main.web-application-type=none",
                            "syncguard.enabled=" + args[0],
                            Bench.EXCLUDE + args[1],
                            args[2])
                    .run();
            application
                    .getBeanProvider(JdbcTemplate.class)
                    .ifAvailable(jdbc -> jdbc.queryForObject("SELECT 1", Integer.class));
            application.getBeanProvider(StringRedisTemplate.class).ifAvailable(redis -> redis.hasKey("any"));
            double millis = (System.nanoTime() - began) / 1e6;
            double threads = ManagementFactory.getThreadMXBean().getThreadCount();
            double heap = heap();
            double classes = ManagementFactory.getClassLoadingMXBean().getLoadedClassCount();
            System.out.println(
                    String.format(Locale.ROOT, "figures %.1f %.0f %.0f %.0f", millis, threads, heap, classes));
            System.exit(0);
        }

        private static double heap() {
            for (int i = 0; i < 5; i++) {
                System.gc();
            }
            return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 1024.0;
        }
    }
}
