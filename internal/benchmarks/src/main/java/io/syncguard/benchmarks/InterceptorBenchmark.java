package io.syncguard.benchmarks;

import io.syncguard.DistributedLock;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.spi.LockBackend;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The cost of the library itself per call, on a backend that grants at once and does no I/O. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class InterceptorBenchmark {

    /** A context with nothing but locks. */
    private final ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
            .properties(
                    "spring.main.banner-mode=off",
                    "spring.main.web-application-type=none",
                    Bench.EXCLUDE + Bench.DATA_SOURCE + "," + Bench.REDIS)
            .run();

    private final Orders orders = context.getBean(Orders.class);
    private final LockTemplate template = context.getBean(LockTemplate.class);

    @TearDown
    public void stop() {
        context.close();
    }

    @Benchmark
    public String annotatedMethod() {
        return orders.submit("42");
    }

    @Benchmark
    public String template() {
        return template.execute(LockRequest.of("order:42"), lock -> "done");
    }

    @Benchmark
    public String plainMethod() {
        return orders.plain("42");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        LockBackend backend() {
            return new GrantingBackend();
        }

        @Bean
        Orders orders() {
            return new Orders();
        }
    }

    static class Orders {

        @DistributedLock(name = "order", key = "#orderId")
        String submit(String orderId) {
            return orderId;
        }

        String plain(String orderId) {
            return orderId;
        }
    }
}
