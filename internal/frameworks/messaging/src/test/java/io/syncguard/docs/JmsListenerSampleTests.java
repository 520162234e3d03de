package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.messaging.Instances;
import io.syncguard.messaging.JmsServer;
import jakarta.jms.ConnectionFactory;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.jms.config.DefaultJmsListenerContainerFactory;

/** The listener of docs/messaging.md on JMS, compiled and run by an instance, and what Artemis does by default. */
@Timeout(60)
class JmsListenerSampleTests {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private static ConfigurableApplicationContext application;
    private static Shipped shipped;

    @BeforeAll
    static void start() {
        application = Instances.start(Shop.class, "syncguard.locks.order.wait-time=50ms");
        shipped = application.getBean(Shipped.class);
    }

    @AfterAll
    static void close() {
        application.close();
    }

    @Test
    void a_message_is_delivered_until_it_gets_its_lock() {
        LockHandle other = Instances.holdElsewhere("order:1");
        JmsServer.client().convertAndSend("orders", "1");
        application.getBean(Refusals.class).awaitMany("order:1");

        other.release();

        await().atMost(LIMIT).until(() -> shipped.orders().contains("1"));
    }

    @Test
    void by_default_a_message_is_a_dead_letter_after_ten_refusals() {
        LockHandle other = Instances.holdElsewhere("order:2");
        JmsServer.client().convertAndSend("default-orders", "2");

        await().atMost(LIMIT).until(() -> "2".equals(JmsServer.client().receiveAndConvert("DLQ")));
        other.release();

        assertThat(application.getBean(Refusals.class).of("order:2")).isEqualTo(10);
    }

    @Test
    void without_a_transaction_of_the_session_a_message_that_is_refused_is_lost() {
        LockHandle other = Instances.holdElsewhere("order:3");
        JmsServer.client().convertAndSend("plain-orders", "3");
        await().atMost(LIMIT).until(() -> application.getBean(Refusals.class).of("order:3") == 1);

        other.release();
        JmsServer.client().convertAndSend("plain-orders", "4");

        await().atMost(LIMIT).until(() -> shipped.orders().contains("4"));
        assertThat(shipped.orders()).doesNotContain("3");
        assertThat(JmsServer.client().receiveAndConvert("DLQ")).isNull();
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration(exclude = {KafkaAutoConfiguration.class, RabbitAutoConfiguration.class})
    @Import({Listeners.class, Shipped.class, Refusals.class})
    static class Shop {

        @Bean
        DefaultJmsListenerContainerFactory withoutTransactions(ConnectionFactory connections) {
            DefaultJmsListenerContainerFactory factory = new DefaultJmsListenerContainerFactory();
            factory.setConnectionFactory(connections);
            return factory;
        }
    }

    static class Listeners {

        private final Shipped shipped;

        Listeners(Shipped shipped) {
            this.shipped = shipped;
        }

        // sample: jms-listener
        @JmsListener(destination = "orders")
        @DistributedLock(name = "order", key = "#order", waitTime = "10m")
        void ship(String order) {
            store(order); // idempotent: a message may come twice
        }
        // end

        @JmsListener(destination = "default-orders")
        @DistributedLock(name = "order", key = "#order")
        void shipByDefault(String order) {
            store(order);
        }

        @JmsListener(destination = "plain-orders", containerFactory = "withoutTransactions")
        @DistributedLock(name = "order", key = "#order")
        void shipWithoutTransaction(String order) {
            store(order);
        }

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
