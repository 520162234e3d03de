package io.syncguard.messaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.testing.UsualBuild;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.kafka.annotation.KafkaListener;

/**
 * An application with message listeners stops. Their containers wait for them, for half a minute each, and Spring stops
 * those of JMS before those of Kafka.
 */
@Timeout(120)
class ClosingListenersTests {

    private static final Executor IN_A_THREAD = task -> new Thread(task, "closing").start();

    /** What remains of half a minute, on a busy machine. */
    private static final Duration SOON = Duration.ofSeconds(8);

    private static final CountDownLatch SLOW_BEGUN = new CountDownLatch(1);
    private static final CountDownLatch SLOW_MAY_END = new CountDownLatch(1);

    enum End {
        CLOSE(ConfigurableApplicationContext::close),
        STOP(ConfigurableApplicationContext::stop);

        private final Consumer<ConfigurableApplicationContext> end;

        End(Consumer<ConfigurableApplicationContext> end) {
            this.end = end;
        }
    }

    @ParameterizedTest
    @MethodSource
    void listeners_that_wait_for_their_locks_do_not_delay_the_end_and_keep_their_messages(End end) {
        String topic = "waiting-" + end;
        LockHandle kafka = Instances.holdElsewhere("kafka:1");
        LockHandle jms = Instances.holdElsewhere("jms:1");
        ConfigurableApplicationContext application = Instances.start(Shop.class, "name=" + topic);
        try {
            KafkaServer.send(topic, "1", "1");
            JmsServer.client().convertAndSend(topic, "1");
            await().atMost(Duration.ofSeconds(20)).until(() -> Instances.waiters() == 2);

            assertThat(CompletableFuture.runAsync(() -> end.end.accept(application), IN_A_THREAD))
                    .succeedsWithin(SOON);

            assertThat(Instances.waiters()).isZero();
            assertThat(KafkaServer.acknowledged(topic, topic)).isZero();
            assertThat(JmsServer.client().receiveAndConvert(topic)).isEqualTo("1");
        } finally {
            application.close();
            kafka.release();
            jms.release();
        }
    }

    @Tag("verification")
    @Test
    void neither_does_a_listener_that_comes_to_its_next_message_while_the_application_closes() {
        LockHandle other = Instances.holdElsewhere("kafka:1");
        KafkaServer.send("two", "slow", "slow");
        KafkaServer.send("two", "1", "1");
        ConfigurableApplicationContext application = Instances.start(Shop.class, "name=two");
        await().atMost(Duration.ofSeconds(20)).until(() -> SLOW_BEGUN.getCount() == 0);
        CompletableFuture<Void> closing = CompletableFuture.runAsync(application::close, IN_A_THREAD);
        await().atMost(SOON).until(application::isClosed);

        SLOW_MAY_END.countDown();

        assertThat(closing).succeedsWithin(SOON);
        assertThat(KafkaServer.acknowledged("two", "two")).isEqualTo(1);
        other.release();
    }

    static Stream<End> listeners_that_wait_for_their_locks_do_not_delay_the_end_and_keep_their_messages() {
        return UsualBuild.first(1, Stream.of(End.values()));
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration(exclude = RabbitAutoConfiguration.class)
    @Import(Listeners.class)
    static class Shop {}

    static class Listeners {

        @KafkaListener(id = "${name}", topics = "${name}")
        @DistributedLock(name = "kafka", key = "#order", waitTime = "2m")
        void kafka(String order) throws InterruptedException {
            if (order.equals("slow")) {
                SLOW_BEGUN.countDown();
                SLOW_MAY_END.await();
            }
        }

        @JmsListener(destination = "${name}")
        @DistributedLock(name = "jms", key = "#order", waitTime = "2m")
        void jms(String order) {}
    }
}
