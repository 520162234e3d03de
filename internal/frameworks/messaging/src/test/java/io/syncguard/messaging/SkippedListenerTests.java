package io.syncguard.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.annotation.SqsListener;
import io.syncguard.DistributedLock;
import io.syncguard.OnContention;
import io.syncguard.leader.LeaderOnly;
import io.syncguard.scheduling.ScheduledLock;
import io.syncguard.testing.CapturedLog;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.rabbit.annotation.RabbitHandler;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration;
import org.springframework.boot.artemis.autoconfigure.ArtemisAutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.context.annotation.Import;
import org.springframework.integration.annotation.ServiceActivator;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.jms.annotation.JmsListeners;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.messaging.handler.annotation.MessageMapping;
import org.springframework.modulith.events.ApplicationModuleListener;

/** The start warns of each listener whose messages are lost when its calls are left out. */
class SkippedListenerTests {

    private static List<String> warnings;

    @BeforeAll
    static void start() {
        try (CapturedLog log = new CapturedLog()) {
            Instances.start(Application.class, "syncguard.leader.elections.reports.auto-startup=false")
                    .close();
            warnings = List.copyOf(log.messages());
        }
    }

    @Test
    void all_listeners_that_skip_are_named_with_their_annotation() {
        assertThat(warnings)
                .filteredOn(warning -> warning.contains(" and @DistributedLock on "))
                .allMatch(warning -> warning.contains("is acknowledged and lost. Leave out onContention"))
                .extracting(SkippedListenerTests::method)
                .containsExactlyInAnyOrder(
                        "@ApplicationModuleListener Skipping.moduleEvent",
                        "@JmsListener Skipping.jms",
                        "@JmsListener Skipping.twoQueues",
                        "@KafkaHandler Handler.handle",
                        "@KafkaListener Inherited.handle",
                        "@KafkaListener Skipping.kafka",
                        "@OrderListener Skipping.own",
                        "@RabbitHandler RabbitMessages.handle",
                        "@RabbitListener Skipping.rabbit",
                        "@ServiceActivator Skipping.integration",
                        "@SqsListener Skipping.sqs");
    }

    @Test
    void listeners_that_only_the_leader_runs_are_named() {
        assertThat(warnings)
                .filteredOn(warning -> warning.contains(" and @LeaderOnly on "))
                .allMatch(warning -> warning.contains("is acknowledged and lost. Start and stop the container"))
                .extracting(SkippedListenerTests::method)
                .containsExactly("@KafkaListener ForLeader.kafka");
    }

    /** The annotation, and the simple name of the class with the method. */
    private static String method(String warning) {
        return warning.replaceFirst("^(@\\w+) and @\\w+ on [\\w.]+\\$(\\w+\\.\\w+): .*", "$1 $2");
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration(
            exclude = {ArtemisAutoConfiguration.class, KafkaAutoConfiguration.class, RabbitAutoConfiguration.class})
    @Import({Skipping.class, Handler.class, RabbitMessages.class, Inherited.class, ForLeader.class, NotSkipping.class})
    static class Application {}

    @KafkaListener(topics = "orders")
    @Retention(RetentionPolicy.RUNTIME)
    @interface OrderListener {}

    static class Skipping {

        @KafkaListener(topics = "orders")
        @DistributedLock(name = "kafka", onContention = OnContention.SKIP)
        void kafka(String order) {}

        @OrderListener
        @DistributedLock(name = "own", onContention = OnContention.SKIP)
        void own(String order) {}

        @RabbitListener(queues = "orders")
        @ScheduledLock(name = "rabbit")
        void rabbit(String order) {}

        @JmsListener(destination = "orders")
        @DistributedLock(name = "jms", onContention = OnContention.SKIP)
        void jms(String order) {}

        @JmsListeners({@JmsListener(destination = "orders"), @JmsListener(destination = "parcels")})
        @DistributedLock(name = "two", onContention = OnContention.SKIP)
        void twoQueues(String order) {}

        @SqsListener("orders")
        @DistributedLock(name = "sqs", onContention = OnContention.SKIP)
        void sqs(String order) {}

        @ServiceActivator(inputChannel = "orders")
        @DistributedLock(name = "integration", onContention = OnContention.SKIP)
        void integration(String order) {}

        @ApplicationModuleListener
        @DistributedLock(name = "modulith", onContention = OnContention.SKIP)
        void moduleEvent(String order) {}
    }

    @KafkaListener(topics = "orders")
    @DistributedLock(name = "handler", onContention = OnContention.SKIP)
    static class Handler {

        @KafkaHandler
        public void handle(String order) {}
    }

    @RabbitListener(queues = "orders")
    static class RabbitMessages {

        @RabbitHandler
        @DistributedLock(name = "rabbit-handler", onContention = OnContention.SKIP)
        public void handle(String order) {}
    }

    interface Contract {

        @KafkaListener(topics = "orders")
        void handle(String order);
    }

    static class Inherited implements Contract {

        @Override
        @DistributedLock(name = "inherited", onContention = OnContention.SKIP)
        public void handle(String order) {}
    }

    static class ForLeader {

        @KafkaListener(topics = "orders")
        @LeaderOnly("reports")
        void kafka(String order) {}

        @LeaderOnly("reports")
        void noListener() {}
    }

    static class NotSkipping {

        @KafkaListener(topics = "orders")
        @DistributedLock(name = "waits")
        void waits(String order) {}

        @KafkaListener(topics = "orders")
        @DistributedLock(name = "fallback", fallback = "later")
        void hasFallback(String order) {}

        void later(String order) {}

        @DistributedLock(name = "no-listener", onContention = OnContention.SKIP)
        void isNoListener(String order) {}

        /** A message of a browser, for example, which nobody acknowledges. */
        @MessageMapping("orders")
        @DistributedLock(name = "unacknowledged", onContention = OnContention.SKIP)
        void isNotAcknowledged(String order) {}
    }
}
