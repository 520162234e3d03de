package io.syncguard.messaging;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.testing.PostgresServer;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration;
import org.springframework.boot.artemis.autoconfigure.ArtemisAutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

/** The instances of an application, on one database. */
public final class Instances {

    static {
        // The start of an application would end the capture of the log.
        System.setProperty(LoggingSystem.SYSTEM_PROPERTY, LoggingSystem.NONE);
    }

    private static final String URL = PostgresServer.newDatabaseUrl();

    /** The instance that is in the way of the others. It goes on until the process ends. */
    private static final ConfigurableApplicationContext ELSEWHERE = start(Elsewhere.class);

    private static final JdbcTemplate DATABASE = new JdbcTemplate(PostgresServer.dataSource(URL));

    private Instances() {}

    /** Starts an instance, which finds the database and the brokers of the test run. */
    public static ConfigurableApplicationContext start(Class<?> application, String... properties) {
        return new SpringApplicationBuilder(application)
                .web(WebApplicationType.NONE)
                .registerShutdownHook(false)
                .properties("spring.datasource.url=" + URL, "spring.main.banner-mode=off")
                .properties(KafkaServer.PROPERTIES)
                .properties(JmsServer.PROPERTIES)
                .properties(properties)
                .run();
    }

    /** Lets another instance hold a lock. */
    public static LockHandle holdElsewhere(String key) {
        return ELSEWHERE.getBean(LockManager.class).acquire(LockRequest.of(key));
    }

    /** Ends a lease in another session, as a pause does: the holder does not know it. */
    public static void endLease(String key) {
        DATABASE.queryForList("SELECT * FROM syncguard_locks_force_release(?)", key);
    }

    /** A session of the database that takes part in no transaction of an application. */
    public static JdbcTemplate database() {
        return DATABASE;
    }

    /** How many callers wait for a lock. */
    public static int waiters() {
        return DATABASE.queryForObject("SELECT count(*) FROM syncguard_locks_waiters", Integer.class);
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration(
            exclude = {ArtemisAutoConfiguration.class, KafkaAutoConfiguration.class, RabbitAutoConfiguration.class})
    static class Elsewhere {}
}
