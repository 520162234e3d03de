package io.syncguard.verification.outages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.embedded.OwnPostgres;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.testing.PostgresProxy;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.util.PSQLException;

/** The address leads to a standby for a while: no connection stays there. */
@Tag("verification")
class WrongServerTests {

    private static final Duration TTL = Duration.ofMinutes(10);

    @Test
    void connections_leave_a_standby_for_the_primary_behind_the_same_address() throws IOException {
        try (OwnPostgres primary = new OwnPostgres();
                OwnPostgres standby = primary.newStandby();
                PostgresProxy address = new PostgresProxy(primary.url());
                StoreCalls backend = ApplicationBackend.on(address.url(), 4, Duration.ofSeconds(5))) {
            backend.connect(new Ignored());
            AcquireRequest held = request("held", "A");
            backend.acquire(held);
            backend.acquire(request("held", "B").waitingAs(1));
            eventually().until(backend::isConnected);
            address.moveTo(standby.port());
            address.cut();
            eventually()
                    .untilAsserted(() -> assertThatThrownBy(() -> backend.acquire(request("free", "C")))
                            .hasRootCauseInstanceOf(PSQLException.class)
                            .rootCause()
                            .hasMessageContaining("read-only"));
            assertThatThrownBy(() -> backend.extendAll(List.of(Requests.extension(held.lockId(), TTL))));

            address.moveTo(primary.port());

            eventually()
                    .ignoreExceptions()
                    .untilAsserted(() -> assertThat(backend.extendAll(List.of(Requests.extension(held.lockId(), TTL))))
                            .hasOnlyElementsOfType(ExtendResult.Extended.class));
            eventually()
                    .ignoreExceptions()
                    .untilAsserted(() -> assertThat(backend.acquire(request("free", "C")))
                            .isInstanceOf(AcquireResult.Granted.class));
            eventually().until(backend::isConnected);
            assertThat(standby.jdbc()
                            .queryForObject(
                                    "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
                                            + " AND pid <> pg_backend_pid()",
                                    Integer.class))
                    .isZero();
        }
    }

    private static AcquireRequest request(String key, String letter) {
        return Requests.exclusive(key, letter.repeat(22), TTL, "test");
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(50));
    }

    private static final class Ignored implements WakeUpListener {

        @Override
        public void wake(long waiter) {}

        @Override
        public void handOver(long waiter, AcquireResult.Granted grant) {}

        @Override
        public void wakeUpsMissed() {}
    }
}
