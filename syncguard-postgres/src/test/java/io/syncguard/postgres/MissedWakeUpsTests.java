package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.embedded.OwnPostgres;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.PostgresProxy;
import io.syncguard.testing.PostgresServer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

/** The session that listens stands, and no notification arrives there: the process notices, and listens elsewhere. */
class MissedWakeUpsTests {

    private static final String LOST = "Wake-ups from PostgreSQL do not arrive; waiting callers poll until they do";
    private static final String OVER = "Wake-ups from PostgreSQL arrive again";

    private static final Duration TTL = Duration.ofMinutes(10);

    private final AcquireRequest held = Requests.exclusive("k", "A".repeat(22), TTL, "test");
    private final AcquireRequest waiter = Requests.exclusive("k", "B".repeat(22), TTL, "test");
    private final Woken woken = new Woken();
    private final CapturedLog log = new CapturedLog(Level.INFO);

    @AfterEach
    void close() {
        log.close();
    }

    @Test
    void where_notifications_get_lost_callers_poll_until_they_arrive_again() {
        String url = PostgresServer.newDatabaseUrl();
        try (PostgresProxy address = new PostgresProxy(url);
                StoreCalls backend = PooledPostgres.on(address.url())) {
            listen(backend);
            address.swallowNotifications(true);
            eventually().until(() -> !backend.isConnected());
            eventually().untilAsserted(() -> assertThat(messages()).containsExactly(LOST));

            address.swallowNotifications(false);

            assertWoken(backend, 2);
            assertThat(listeners(new JdbcTemplate(PostgresServer.dataSource(url))))
                    .as("the session that was given up has ended")
                    .hasSize(1);
        }
    }

    @Test
    @Tag("verification")
    void the_primary_behind_the_address_is_followed_although_the_old_one_goes_on() throws IOException {
        try (OwnPostgres first = new OwnPostgres();
                OwnPostgres second = first.newStandby();
                PostgresProxy address = new PostgresProxy(first.url());
                StoreCalls backend = PooledPostgres.on(address.url())) {
            listen(backend);
            List<Integer> listening = listeners(first.jdbc());
            second.promote();
            address.moveTo(second.port());
            first.jdbc()
                    .queryForList(
                            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client"
                                    + " backend'"
                                    + " AND pid NOT IN (?, pg_backend_pid())",
                            listening.get(0));

            eventually().until(() -> !listeners(second.jdbc()).isEmpty());
            eventually().ignoreExceptions().until(() -> backend.acquire(held) != null);
            assertWoken(backend, 2);
            assertThat(listeners(first.jdbc())).isEmpty();
            eventually().untilAsserted(() -> assertThat(messages()).containsExactly(LOST, OVER));
        }
    }

    private void listen(StoreCalls backend) {
        backend.connect(woken);
        backend.acquire(held);
        assertThat(backend.acquire(waiter.waitingAs(1))).isInstanceOf(AcquireResult.Queued.class);
        eventually().until(backend::isConnected);
    }

    private void assertWoken(StoreCalls backend, long number) {
        eventually().until(backend::isConnected);
        backend.acquire(waiter.waitingAs(number));
        backend.release(held.lockId());
        eventually().until(() -> woken.numbers.contains(number));
    }

    private List<String> messages() {
        return log.messages().stream()
                .filter(each -> each.startsWith("Wake-ups "))
                .toList();
    }

    private static List<Integer> listeners(JdbcTemplate server) {
        return server.queryForList("""
                SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'
                """, Integer.class);
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(40)).pollInterval(Duration.ofMillis(20));
    }

    /** The numbers of the waiters that were woken, or got the key. */
    private static final class Woken implements WakeUpListener {

        private final Set<Long> numbers = ConcurrentHashMap.newKeySet();

        @Override
        public void wake(long waiter) {
            numbers.add(waiter);
        }

        @Override
        public void handOver(long waiter, AcquireResult.Granted grant) {
            numbers.add(waiter);
        }

        @Override
        public void wakeUpsMissed() {}
    }
}
