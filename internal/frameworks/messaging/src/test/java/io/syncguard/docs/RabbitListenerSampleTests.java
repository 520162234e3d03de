package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.messaging.Instances;
import io.syncguard.messaging.RabbitServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.amqp.core.Declarables;
import org.springframework.amqp.core.Queue;
import org.springframework.amqp.core.QueueBuilder;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.artemis.autoconfigure.ArtemisAutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/** The listener of docs/messaging.md on RabbitMQ, compiled and run by an instance, and what Spring does by default. */
@Tag("verification")
@Timeout(180)
class RabbitListenerSampleTests {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private static RabbitServer server;

    private ConfigurableApplicationContext application;
    private Shipped shipped;
    private Refusals refusals;

    @BeforeAll
    static void startServer() {
        server = RabbitServer.start();
    }

    @AfterAll
    static void closeServer() {
        server.close();
    }

    @AfterEach
    void close() {
        application.close();
        server.purge("orders", "orders.retry");
    }

    @Test
    void by_default_a_refused_message_is_delivered_again_at_once_many_times_a_second() {
        start("spring.rabbitmq.listener.simple.default-requeue-rejected=true", "syncguard.locks.order.wait-time=0s");
        LockHandle other = Instances.holdElsewhere("order:1");
        server.client().convertAndSend("orders", "1");

        await().atMost(LIMIT).until(() -> refusals.of("order:1") > 0);
        await().atMost(Duration.ofSeconds(1)).until(() -> refusals.of("order:1") > 20);

        other.release();
        await().atMost(LIMIT).until(() -> shipped.orders().contains("1"));
    }

    @Test
    void a_refused_message_comes_back_after_a_second_until_it_gets_its_lock() {
        start("syncguard.locks.order.wait-time=50ms");
        LockHandle other = Instances.holdElsewhere("order:1");
        server.client().convertAndSend("orders", "1");
        refusals.awaitMany("order:1");

        other.release();

        await().atMost(LIMIT).until(() -> shipped.orders().contains("1"));
    }

    @ParameterizedTest
    @CsvSource({"simple, false", "simple, true", "direct, false", "direct, true"})
    void a_listener_that_waits_does_not_delay_the_end_and_keeps_its_messages(String container, boolean requeues) {
        start(
                "spring.rabbitmq.listener.type=" + container,
                "spring.rabbitmq.listener." + container + ".force-stop=true",
                "spring.rabbitmq.listener." + container + ".default-requeue-rejected=" + requeues);
        LockHandle other = Instances.holdElsewhere("order:1");
        for (int i = 0; i < 20; i++) {
            server.client().convertAndSend("orders", "1");
        }
        await().atMost(LIMIT).until(() -> Instances.waiters() == 1);

        CompletableFuture<Void> closing =
                CompletableFuture.runAsync(application::close, task -> new Thread(task, "closing").start());

        assertThat(closing).succeedsWithin(Duration.ofSeconds(3));
        other.release();
        await().atMost(LIMIT).until(() -> server.messagesIn("orders") == 20);
    }

    private void start(String... properties) {
        application = Instances.start(
                Shop.class,
                Stream.concat(
                                Stream.of(
                                        server.property(),
                                        "spring.rabbitmq.listener.simple.force-stop=true",
                                        "spring.rabbitmq.listener.simple.default-requeue-rejected=false"),
                                Stream.of(properties))
                        .toArray(String[]::new));
        shipped = application.getBean(Shipped.class);
        refusals = application.getBean(Refusals.class);
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration(exclude = {ArtemisAutoConfiguration.class, KafkaAutoConfiguration.class})
    @Import({Listeners.class, Shipped.class, Refusals.class})
    static class Shop {

        // sample: rabbit-queues
        @Bean
        Declarables orders() {
            Queue orders = QueueBuilder.durable("orders")
                    .deadLetterExchange("")
                    .deadLetterRoutingKey("orders.retry")
                    .build();
            Queue retry = QueueBuilder.durable("orders.retry")
                    .ttl(1000)
                    .deadLetterExchange("")
                    .deadLetterRoutingKey("orders")
                    .build();
            return new Declarables(orders, retry);
        }
        // end
    }

    static class Listeners {

        private final Shipped shipped;

        Listeners(Shipped shipped) {
            this.shipped = shipped;
        }

        // sample: rabbit-listener
        @RabbitListener(queues = "orders")
        @DistributedLock(name = "order", key = "#order", waitTime = "10m")
        void ship(String order) {
            store(order); // idempotent: a message may come twice
        }
        // end

        private void store(String order) {
            shipped.orders().add(order);
        }
    }

    record Shipped(List<String> orders) {

        Shipped() {
            this(new CopyOnWriteArrayList<>());
        }
    }
}
