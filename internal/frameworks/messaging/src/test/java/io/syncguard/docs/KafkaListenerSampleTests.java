package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.DistributedLock;
import io.syncguard.IllegalKeyException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.OnContention;
import io.syncguard.messaging.Instances;
import io.syncguard.messaging.KafkaServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration;
import org.springframework.boot.artemis.autoconfigure.ArtemisAutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.KafkaOperations;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.util.backoff.FixedBackOff;

/**
 * The listeners of docs/messaging.md on Kafka, compiled and run by an instance, and what Spring Kafka does by default.
 */
@Timeout(60)
class KafkaListenerSampleTests {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private static ConfigurableApplicationContext application;
    private static Done done;
    private static Refusals refusals;

    @BeforeAll
    static void start() {
        // The first poll gets them all.
        IntStream.range(0, 101).forEach(key -> KafkaServer.send("parcels", "key " + key, "too many"));
        application = Instances.start(
                Shop.class,
                "syncguard.locks.order.wait-time=50ms",
                "syncguard.locks.parcel.wait-time=50ms",
                "syncguard.locks.default-order.wait-time=0s",
                "spring.kafka.consumer.max-poll-records=200");
        done = application.getBean(Done.class);
        refusals = application.getBean(Refusals.class);
    }

    @AfterAll
    static void close() {
        application.close();
    }

    @Test
    void by_default_a_message_is_discarded_after_ten_refusals() {
        LockHandle other = Instances.holdElsewhere("default-order:1");
        KafkaServer.send("default-orders", "1", "1");

        await().atMost(LIMIT).until(() -> KafkaServer.acknowledged("default-orders", "default-orders") == 1);
        other.release();

        assertThat(refusals.of("default-order:1")).isEqualTo(10);
        assertThat(done.shipped).doesNotContain("default 1");
    }

    @Test
    void by_default_a_message_that_is_skipped_is_acknowledged() {
        LockHandle other = Instances.holdElsewhere("skipped-order:1");
        KafkaServer.send("skipped-orders", "1", "1");

        await().atMost(LIMIT).until(() -> KafkaServer.acknowledged("skipped-orders", "skipped-orders") == 1);
        other.release();

        assertThat(done.shipped).doesNotContain("skipped 1");
    }

    @Test
    void a_message_is_tried_until_it_gets_its_lock() {
        LockHandle other = Instances.holdElsewhere("order:1");
        KafkaServer.send("orders", "1", "1");
        refusals.awaitMany("order:1");

        other.release();

        await().atMost(LIMIT).until(() -> done.shipped.contains("1"));
    }

    @Test
    void another_failure_of_the_body_goes_to_the_dead_letters_after_ten_tries() {
        KafkaServer.send("orders", "bad", "bad");

        await().atMost(LIMIT).until(() -> done.dead.contains("bad"));
        assertThat(done.tried).filteredOn("bad"::equals).hasSize(10);
    }

    @Tag("verification")
    @Test
    void a_batch_is_tried_until_it_gets_its_locks() {
        awaitDeadBatch();
        LockHandle other = Instances.holdElsewhere("parcel:1");
        KafkaServer.send("parcels", "1", "parcel");
        refusals.awaitMany("parcel:1");

        other.release();

        await().atMost(LIMIT).until(() -> done.shipped.contains("parcel"));
    }

    @Test
    void a_batch_of_too_many_keys_goes_to_the_dead_letters_at_once_because_no_retry_mends_it() {
        awaitDeadBatch();

        assertThat(done.shipped).doesNotContain("too many");
    }

    @Test
    void a_message_goes_through_retry_topics_until_it_gets_its_lock() {
        LockHandle other = Instances.holdElsewhere("invoice:1");
        KafkaServer.send("invoices", "1", "1");
        KafkaServer.send("invoices", "2", "2");
        await().atMost(LIMIT).until(() -> done.shipped.contains("invoice 2"));
        assertThat(done.shipped).doesNotContain("invoice 1");

        other.release();

        await().atMost(LIMIT).until(() -> done.shipped.contains("invoice 1"));
    }

    @Test
    void a_message_without_a_key_goes_through_no_retry_topic_because_no_retry_mends_it() {
        KafkaServer.send("invoices", "3", " ");

        await().atMost(LIMIT).until(() -> done.dead.contains(" "));
    }

    private static void awaitDeadBatch() {
        await().atMost(LIMIT)
                .until(() -> done.dead.stream().filter("too many"::equals).count() == 101);
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration(exclude = {ArtemisAutoConfiguration.class, RabbitAutoConfiguration.class})
    @Import({Listeners.class, Done.class, Refusals.class})
    static class Shop {

        // sample: kafka-errors
        @Bean
        DefaultErrorHandler kafkaErrors(KafkaOperations<?, ?> kafka) {
            DefaultErrorHandler errors = new DefaultErrorHandler(new DeadLetterPublishingRecoverer(kafka));
            errors.addNotRetryableExceptions(IllegalKeyException.class);
            errors.setBackOffFunction((message, failure) ->
                    mayPass(failure) ? new FixedBackOff(1000, FixedBackOff.UNLIMITED_ATTEMPTS) : null);
            return errors;
        }

        private static boolean mayPass(Throwable failure) {
            Throwable cause = failure instanceof ListenerExecutionFailedException ? failure.getCause() : failure;
            return cause instanceof LockException lock && lock.code() != LockErrorCode.INVALID_ARGUMENT;
        }
        // end

        @Bean
        ConcurrentKafkaListenerContainerFactory<Object, Object> defaults(ConsumerFactory<Object, Object> consumers) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            factory.setConsumerFactory(consumers);
            return factory;
        }
    }

    static class Listeners {

        private final Done done;

        Listeners(Done done) {
            this.done = done;
        }

        // sample: kafka-listener
        @KafkaListener(topics = "orders", groupId = "shop")
        @DistributedLock(name = "order", key = "#order", waitTime = "1m")
        void ship(String order) {
            store(order); // idempotent: a message may come twice
        }
        // end

        // sample: kafka-batch
        @KafkaListener(topics = "parcels", groupId = "shop", batch = "true")
        @DistributedLock(name = "parcel", key = "#parcels.![key()]", waitTime = "1m")
        void ship(List<ConsumerRecord<String, String>> parcels) {
            store(parcels); // at most syncguard.aop.max-keys different keys
        }
        // end

        // sample: kafka-retry-topic
        @RetryableTopic(
                attempts = "20",
                backOff = @BackOff(delay = 1000, multiplier = 2, maxDelay = 60_000),
                exclude = IllegalKeyException.class)
        @KafkaListener(topics = "invoices", groupId = "shop")
        @DistributedLock(name = "invoice", key = "#invoice", waitTime = "0s")
        void print(String invoice) {
            store("invoice " + invoice);
        }
        // end

        @KafkaListener(topics = "default-orders", id = "default-orders", containerFactory = "defaults")
        @DistributedLock(name = "default-order", key = "#order")
        void shipByDefault(String order) {
            done.shipped.add("default " + order);
        }

        @KafkaListener(topics = "skipped-orders", id = "skipped-orders")
        @DistributedLock(name = "skipped-order", key = "#order", onContention = OnContention.SKIP)
        void skip(String order) {
            done.shipped.add("skipped " + order);
        }

        @KafkaListener(
                topics = {"orders-dlt", "parcels-dlt", "invoices-dlt"},
                id = "dead")
        void dead(String message) {
            done.dead.add(message);
        }

        private void store(String message) {
            done.tried.add(message);
            if (message.equals("bad")) {
                throw new IllegalStateException("as the test wants it");
            }
            done.shipped.add(message);
        }

        private void store(List<ConsumerRecord<String, String>> messages) {
            messages.forEach(message -> done.shipped.add(message.value()));
        }
    }

    /** What the listeners did. */
    static class Done {

        private final List<String> tried = new CopyOnWriteArrayList<>();
        private final List<String> shipped = new CopyOnWriteArrayList<>();
        private final List<String> dead = new CopyOnWriteArrayList<>();
    }
}
