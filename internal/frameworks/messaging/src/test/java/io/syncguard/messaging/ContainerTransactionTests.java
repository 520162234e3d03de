package io.syncguard.messaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.syncguard.CommitGuard;
import io.syncguard.DistributedLock;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.testing.UsualBuild;
import jakarta.jms.ConnectionFactory;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.jms.config.DefaultJmsListenerContainerFactory;
import org.springframework.jms.connection.JmsTransactionManager;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.transaction.KafkaTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** Listeners whose containers begin a transaction of the broker. */
@Timeout(120)
class ContainerTransactionTests {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    /** What the last delivery of each listener threw. */
    private static final Map<String, Throwable> FAILURES = new ConcurrentHashMap<>();

    /** What a reader of committed messages has received. */
    private static final Set<String> ANNOUNCED = ConcurrentHashMap.newKeySet();

    private static ConfigurableApplicationContext application;

    @BeforeAll
    static void start() {
        application = Instances.start(Shop.class, "spring.kafka.producer.transaction-id-prefix=shop-");
        Instances.database().execute("CREATE TABLE booking (id TEXT)");
    }

    @AfterAll
    static void close() {
        application.close();
    }

    @Test
    void a_lock_that_requires_the_guard_is_refused_in_a_transaction_of_kafka_with_the_way_out() {
        KafkaServer.send("guarded", "1", "kafka");

        assertRefused("kafka", "KafkaTransactionManager");
    }

    @Test
    void a_lock_that_requires_the_guard_is_refused_in_a_transaction_of_jms_with_the_way_out() {
        JmsServer.client().convertAndSend("guarded", "jms");

        assertRefused("jms", "JmsTransactionManager");
    }

    @Test
    void a_transaction_of_kafka_does_not_begin_under_a_lock_that_requires_the_guard() {
        TransactionTemplate kafka = new TransactionTemplate(application.getBean(KafkaTransactionManager.class));
        Guarded guarded = application.getBean(Guarded.class);

        assertThatThrownBy(() -> record("begin", () -> guarded.run(() -> kafka.executeWithoutResult(status -> {}))))
                .isInstanceOf(LockException.class);

        assertRefused("begin", "KafkaTransactionManager");
    }

    @Test
    void with_auto_a_transaction_of_the_database_within_that_of_kafka_is_guarded() {
        KafkaServer.send("bookings", "1", "kafka booking");

        assertGuarded("kafka booking");
    }

    @Test
    void with_auto_a_transaction_of_the_database_within_that_of_jms_is_guarded() {
        JmsServer.client().convertAndSend("bookings", "jms booking");

        assertGuarded("jms booking");
    }

    /** An abort that is interrupted may still reach the broker, so there are several. */
    @Test
    void a_refused_commit_aborts_the_transaction_of_kafka_beside_it_so_that_readers_of_the_topic_go_on() {
        Bookings bookings = application.getBean(Bookings.class);
        UsualBuild.first(10, IntStream.range(0, 200).boxed())
                .forEach(i -> assertReadersGoOn("refused " + i, bookings::announceUntilEnded));

        assertNothingIsLeftOf("refused");
    }

    @Test
    void so_does_one_whose_lease_lapsed_while_its_body_ran() {
        Bookings bookings = application.getBean(Bookings.class);
        UsualBuild.first(10, IntStream.range(0, 200).boxed())
                .forEach(i -> assertReadersGoOn("lapsed " + i, bookings::announceUntilInterrupted));

        assertNothingIsLeftOf("lapsed");
    }

    private static void assertReadersGoOn(String booking, Consumer<String> announce) {
        assertThatThrownBy(() -> announce.accept(booking)).isInstanceOf(LockLostException.class);
        assertThat(Thread.interrupted()).isFalse();

        KafkaServer.send("announcements", "1", "after " + booking);
        await().atMost(Duration.ofSeconds(2)).until(() -> ANNOUNCED.contains("after " + booking));
    }

    private static void assertNothingIsLeftOf(String bookings) {
        assertThat(Instances.database().queryForList("SELECT id FROM booking", String.class))
                .noneMatch(booking -> booking.startsWith(bookings));
        assertThat(ANNOUNCED).noneMatch(booking -> booking.startsWith(bookings));
    }

    private static void assertRefused(String listener, String manager) {
        await().atMost(LIMIT).until(() -> FAILURES.containsKey(listener));
        assertThat(FAILURES.get(listener))
                .isInstanceOfSatisfying(
                        LockException.class,
                        refused -> assertThat(refused.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                .hasMessageContainingAll(
                        "its transaction manager, a " + manager + ", binds no JDBC connection",
                        "set commitGuard to auto: other transactions under the lock are guarded");
    }

    /** The first delivery loses its lease right before the commit. The second one books. */
    private static void assertGuarded(String booking) {
        await().atMost(LIMIT).until(() -> FAILURES.containsKey(booking));
        assertThat(FAILURES.get(booking)).isInstanceOf(LockLostException.class);
        await().atMost(LIMIT)
                .until(() -> Instances.database()
                        .queryForList("SELECT id FROM booking", String.class)
                        .contains(booking));
        assertThat(Instances.database().queryForList("SELECT id FROM booking", String.class))
                .containsOnlyOnce(booking);
    }

    private static void record(String listener, Runnable delivery) {
        try {
            delivery.run();
        } catch (RuntimeException ex) {
            FAILURES.put(listener, ex);
            throw ex;
        }
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration(exclude = RabbitAutoConfiguration.class)
    @Import({Announcements.class, Listeners.class, Bookings.class, Guarded.class})
    static class Shop {

        @Bean
        @Primary
        JdbcTransactionManager transactionManager(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        KafkaTransactionManager<Object, Object> kafkaTransactionManager(ProducerFactory<Object, Object> producers) {
            return new KafkaTransactionManager<>(producers);
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<Object, Object> kafkaListenerContainerFactory(
                ConsumerFactory<Object, Object> consumers, KafkaTransactionManager<Object, Object> manager) {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            factory.setConsumerFactory(consumers);
            factory.getContainerProperties().setKafkaAwareTransactionManager(manager);
            return factory;
        }

        @Bean
        JmsTransactionManager jmsTransactionManager(ConnectionFactory connections) {
            return new JmsTransactionManager(connections);
        }

        @Bean
        DefaultJmsListenerContainerFactory jmsListenerContainerFactory(
                ConnectionFactory connections, JmsTransactionManager manager) {
            DefaultJmsListenerContainerFactory factory = new DefaultJmsListenerContainerFactory();
            factory.setConnectionFactory(connections);
            factory.setSessionTransacted(true);
            factory.setTransactionManager(manager);
            return factory;
        }
    }

    static class Listeners {

        private final Guarded guarded;
        private final Bookings bookings;

        Listeners(Guarded guarded, Bookings bookings) {
            this.guarded = guarded;
            this.bookings = bookings;
        }

        @KafkaListener(topics = "guarded", groupId = "guarded")
        @JmsListener(destination = "guarded")
        void runGuarded(String listener) {
            record(listener, () -> guarded.run(() -> {}));
        }

        @KafkaListener(topics = "bookings", groupId = "bookings")
        @JmsListener(destination = "bookings")
        void book(String booking) {
            record(booking, () -> bookings.book(booking));
        }
    }

    static class Announcements {

        @KafkaListener(topics = "announcements", groupId = "announcements")
        void receive(String booking) {
            ANNOUNCED.add(booking);
        }
    }

    static class Guarded {

        @DistributedLock(name = "guarded", commitGuard = CommitGuard.REQUIRED)
        void run(Runnable body) {
            body.run();
        }
    }

    static class Bookings {

        private final JdbcTemplate jdbc;
        private final KafkaTemplate<Object, Object> kafka;

        Bookings(JdbcTemplate jdbc, KafkaTemplate<Object, Object> kafka) {
            this.jdbc = jdbc;
            this.kafka = kafka;
        }

        @DistributedLock(name = "booking", key = "#booking")
        @Transactional
        void book(String booking) {
            jdbc.update("INSERT INTO booking VALUES (?)", booking);
            if (!FAILURES.containsKey(booking)) {
                Instances.endLease("booking:" + booking);
            }
        }

        @DistributedLock(name = "announcement")
        @Transactional
        void announceUntilEnded(String booking) {
            announce(booking);
            Instances.endLease("announcement");
        }

        /** Has no point at which an interrupt could end it. */
        @DistributedLock(name = "announcement", heartbeat = false)
        @Transactional
        void announceUntilInterrupted(String booking) {
            announce(booking);
            LockHandle.current().orElseThrow().extend(Duration.ofMillis(1));
            while (!Thread.currentThread().isInterrupted()) {
                Thread.onSpinWait();
            }
        }

        private void announce(String booking) {
            jdbc.update("INSERT INTO booking VALUES (?)", booking);
            kafka.send("announcements", booking).join();
        }
    }
}
