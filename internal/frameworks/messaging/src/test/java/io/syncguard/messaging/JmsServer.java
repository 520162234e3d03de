package io.syncguard.messaging;

import jakarta.jms.ConnectionFactory;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory;
import org.springframework.jms.core.JmsTemplate;

/** The one Artemis of a test run, with the configuration of broker.xml. It outlives the applications. */
public final class JmsServer {

    private static final String URL = "vm://0";

    /** The properties with which an application uses the broker. */
    static final String[] PROPERTIES = {
        "spring.artemis.mode=native", "spring.artemis.embedded.enabled=false", "spring.artemis.broker-url=" + URL
    };

    private static final JmsTemplate CLIENT = start();

    private JmsServer() {}

    /** Sends and receives outside of all applications. A message that is not there is not waited for. */
    public static JmsTemplate client() {
        return CLIENT;
    }

    private static JmsTemplate start() {
        try {
            new EmbeddedActiveMQ().setConfigResourcePath("broker.xml").start();
        } catch (Exception ex) {
            throw new IllegalStateException("Artemis did not start", ex);
        }
        ConnectionFactory connections = new ActiveMQConnectionFactory(URL);
        JmsTemplate client = new JmsTemplate(connections);
        client.setReceiveTimeout(JmsTemplate.RECEIVE_TIMEOUT_NO_WAIT);
        return client;
    }
}
