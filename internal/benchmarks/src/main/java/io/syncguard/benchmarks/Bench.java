package io.syncguard.benchmarks;

import io.syncguard.LockListener;
import io.syncguard.embedded.PostgresBinaries;
import io.syncguard.embedded.RunDirectory;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** The common parts of the measurements: a durable server, an application on it, counting and printing. */
final class Bench {

    /** The property of an application that excludes auto-configurations. */
    static final String EXCLUDE = "spring.autoconfigure.exclude=";

    static final String DATA_SOURCE = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration";

    static final String REDIS = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration";

    private Bench() {}

    /** Starts a PostgreSQL with durable settings. */
    static EmbeddedPostgres startDurable() throws IOException {
        return PostgresBinaries.builder()
                .setDataDirectory(RunDirectory.newDirectory("postgres"))
                .setPGStartupWait(Duration.ofMinutes(1))
                .setServerConfig("fsync", "on")
                .setServerConfig("full_page_writes", "on")
                .setServerConfig("synchronous_commit", "on")
                // Three processes have the pools of all candidates open.
                .setServerConfig("max_connections", "400")
                // For the measurements that count statements. It is not active in the databases of the others.
                .setServerConfig("shared_preload_libraries", "pg_stat_statements")
                .setServerConfig("pg_stat_statements.track", "none")
                .start();
    }

    /** Starts an application with the default settings, except for a longer network timeout. */
    static ConfigurableApplicationContext application(String url, LockListener... listeners) {
        return run(
                List.of(listeners),
                EXCLUDE + REDIS,
                "spring.datasource.url=" + url,
                // A timeout on a slow or busy machine must not end the benchmark.
                "syncguard.postgres.network-timeout=1m",
                "syncguard.jdbc.network-timeout=1m");
    }

    /** Starts one with the default network timeout, which also limits the wait for a connection of the pool. */
    static ConfigurableApplicationContext applicationWithDefaults(String url) {
        return run(List.of(), EXCLUDE + REDIS, "spring.datasource.url=" + url);
    }

    /** The same as {@link #application}, but with its locks in Redis. */
    static ConfigurableApplicationContext redisApplication(String url, LockListener... listeners) {
        return run(
                List.of(listeners),
                EXCLUDE + DATA_SOURCE,
                "spring.data.redis.url=" + url,
                "syncguard.redis.network-timeout=1m");
    }

    /** The same with the default network timeout. */
    static ConfigurableApplicationContext redisApplicationWithDefaults(String url) {
        return run(List.of(), EXCLUDE + DATA_SOURCE, "spring.data.redis.url=" + url);
    }

    private static ConfigurableApplicationContext run(List<LockListener> listeners, String... properties) {
        return new SpringApplicationBuilder(Application.class)
                .properties("spring.main.banner-mode=off", "spring.main.web-application-type=none")
                .properties(properties)
                .initializers(context ->
                        listeners.forEach(listener -> context.getBeanFactory().registerSingleton("listener", listener)))
                .run();
    }

    /** The number of repetitions per second of all threads together. Each thread does the work at least once. */
    static double perSecond(int threads, Duration duration, Load.Work work) throws Exception {
        return Load.of(threads).run(duration, work).perSecond();
    }

    /** Formats figures as a line of a table. NaN means that this system does not provide the figure. */
    static String line(String what, List<Double> figures) {
        if (figures.stream().anyMatch(figure -> figure.isNaN())) {
            return String.format(Locale.ROOT, "%-60s not available on this system", what);
        }
        List<Double> sorted = figures.stream().sorted().toList();
        return String.format(
                Locale.ROOT,
                "%-60s min %10.2f   median %10.2f   max %10.2f",
                what,
                sorted.get(0),
                median(figures),
                sorted.get(sorted.size() - 1));
    }

    static double median(List<Double> figures) {
        List<Double> sorted = figures.stream().sorted().toList();
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
