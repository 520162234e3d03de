package io.syncguard.messaging;

import java.util.Map;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringSerializer;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.test.EmbeddedKafkaBroker;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;
import org.springframework.kafka.test.utils.KafkaTestUtils;

/** The one broker of a test run. It makes a topic with one partition for each name that a client uses. */
public final class KafkaServer {

    private static final EmbeddedKafkaBroker BROKER = start();

    private static final AdminClient ADMIN =
            AdminClient.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, BROKER.getBrokersAsString()));

    /** The properties with which an application uses the broker. */
    static final String[] PROPERTIES = {
        "spring.kafka.bootstrap-servers=" + addresses(),
        "spring.kafka.consumer.auto-offset-reset=earliest",
        // A message that is read again would wait for the fetch that is under way.
        "spring.kafka.consumer.fetch-max-wait=20ms",
        "spring.kafka.consumer.isolation-level=read_committed"
    };

    private static final KafkaTemplate<String, String> CLIENT = new KafkaTemplate<>(new DefaultKafkaProducerFactory<>(
            KafkaTestUtils.producerProps(BROKER), new StringSerializer(), new StringSerializer()));

    private KafkaServer() {}

    /** The addresses of the broker. */
    public static String addresses() {
        return BROKER.getBrokersAsString();
    }

    /** Sends a message outside of all applications. */
    public static void send(String topic, String key, String message) {
        CLIENT.send(topic, key, message).join();
    }

    /** How many messages of its topic the group has acknowledged. */
    public static long acknowledged(String group, String topic) {
        try {
            OffsetAndMetadata committed = ADMIN.listConsumerGroupOffsets(group)
                    .partitionsToOffsetAndMetadata()
                    .get()
                    .get(new TopicPartition(topic, 0));
            return committed == null ? 0 : committed.offset();
        } catch (Exception ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static EmbeddedKafkaBroker start() {
        EmbeddedKafkaBroker broker = new EmbeddedKafkaKraftBroker(1, 1)
                .brokerProperties(
                        Map.of("transaction.state.log.replication.factor", "1", "transaction.state.log.min.isr", "1"));
        broker.afterPropertiesSet();
        Runtime.getRuntime().addShutdownHook(new Thread(broker::destroy));
        return broker;
    }
}
