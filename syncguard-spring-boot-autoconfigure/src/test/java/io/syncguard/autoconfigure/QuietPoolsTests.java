package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.syncguard.LockTemplate;
import io.syncguard.testing.LogbackLogger;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The pools of the library log nothing while there is no error, and those of the application log what they always do.
 */
class QuietPoolsTests {

    private final Logger hikari = LogbackLogger.named("com.zaxxer.hikari");
    private final Level before = hikari.getLevel();
    private final List<String> messages = new CopyOnWriteArrayList<>();
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            messages.add(event.getFormattedMessage());
        }
    };

    @BeforeEach
    void listen() {
        appender.start();
        hikari.addAppender(appender);
        hikari.setLevel(Level.INFO);
        hikari.setAdditive(false);
    }

    @AfterEach
    void stopListening() {
        hikari.setAdditive(true);
        hikari.setLevel(before);
        hikari.detachAppender(appender);
    }

    @Test
    void a_start_and_a_stop_are_logged_for_the_applications_pool_only() {
        TestDatabase database = TestDatabase.empty();

        Applications.on(database.url())
                .withPropertyValues("spring.datasource.hikari.pool-name=orders")
                .run(application -> {
                    application.getBean(JdbcTemplate.class).execute("SELECT 1");
                    boolean held = application.getBean(LockTemplate.class).execute("order:1", lock -> lock.isHeld());
                    assertThat(held).isTrue();
                });

        assertThat(messages)
                .isNotEmpty()
                .allMatch(message -> message.startsWith("orders - "))
                .contains("orders - Start completed.", "orders - Shutdown completed.");
    }
}
