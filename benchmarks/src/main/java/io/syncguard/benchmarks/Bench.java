package io.syncguard.benchmarks;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/**
 * What the measurements share: a durable server, an application on it, counting and printing.
 */
final class Bench {

    private Bench() {}

    /** A PostgreSQL that keeps what it has confirmed. */
    static EmbeddedPostgres startDurable() throws IOException {
        return EmbeddedPostgres.builder()
                .setServerConfig("listen_addresses", "127.0.0.1")
                .setServerConfig("fsync", "on")
                .setServerConfig("full_page_writes", "on")
                .setServerConfig("synchronous_commit", "on")
                .start();
    }

    /** An application as its users have it. */
    static ConfigurableApplicationContext application(String url) {
        return new SpringApplicationBuilder(Application.class)
                .properties(
                        "spring.main.banner-mode=off",
                        "spring.main.web-application-type=none",
                        "spring.datasource.url=" + url)
                .run();
    }

    /** What is counted, by the number of the thread and how often this thread has done it before. */
    @FunctionalInterface
    interface Work {
        void run(int thread, long count) throws Exception;
    }

    /** How often per second so many threads do it together. */
    static double perSecond(int threads, Duration duration, Work work) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            long began = System.nanoTime();
            long end = began + duration.toNanos();
            List<Future<Long>> counts = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                int number = thread;
                counts.add(executor.submit(() -> {
                    long count = 0;
                    for (; System.nanoTime() < end; count++) {
                        work.run(number, count);
                    }
                    return count;
                }));
            }
            long sum = 0;
            for (Future<Long> count : counts) {
                sum += count.get();
            }
            return sum / ((System.nanoTime() - began) / 1e9);
        } finally {
            executor.shutdown();
        }
    }

    static void print(String what, List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        System.out.printf(
                Locale.ROOT,
                "%-28s min %10.2f   median %10.2f   max %10.2f%n",
                what,
                sorted.get(0),
                sorted.get(sorted.size() / 2),
                sorted.get(sorted.size() - 1));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
