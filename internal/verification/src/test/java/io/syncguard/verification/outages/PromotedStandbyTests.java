package io.syncguard.verification.outages;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.embedded.OwnPostgres;
import io.syncguard.postgres.PostgresSettings;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSource;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An asynchronous standby is promoted that has not received the last fences: by the clock, none of them is given again;
 * from counters, some are.
 */
@Tag("verification")
class PromotedStandbyTests {

    private static final Duration TTL = Duration.ofMinutes(10);

    @ParameterizedTest
    @EnumSource
    void the_last_fences_have_not_reached_the_next_primary(FenceSource fences) throws IOException {
        AcquireRequest before = request("order:42", "A");
        long first;
        long lost;
        long lostOfAnother;
        try (OwnPostgres primary = new OwnPostgres();
                OwnPostgres standby = primary.newStandby()) {
            try (StoreCalls backend = open(primary, fences)) {
                first = granted(backend, before);
                awaitReceived(primary, standby);
                standby.stop();
                lost = rotated(backend, before);
                lostOfAnother = granted(backend, request("order:43", "B"));
            }
            primary.stop();
            standby.start();
            standby.promote();

            try (StoreCalls backend = open(standby, fences)) {
                long behindLost = rotated(backend, before);
                long behindLostOfAnother = granted(backend, request("order:43", "C"));
                if (fences == FenceSource.CLOCK) {
                    assertThat(List.of(first, lost, behindLost)).isSorted().doesNotHaveDuplicates();
                    assertThat(behindLostOfAnother).isGreaterThan(lostOfAnother);
                } else {
                    assertThat(List.of(first, lost, behindLost)).containsExactly(1L, 2L, 2L);
                    assertThat(List.of(lostOfAnother, behindLostOfAnother)).containsExactly(1L, 1L);
                }
            }
        }
    }

    private static void awaitReceived(OwnPostgres primary, OwnPostgres standby) {
        String written = primary.jdbc().queryForObject("SELECT pg_current_wal_lsn()::TEXT", String.class);
        Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .until(() -> standby.jdbc()
                        .queryForObject("SELECT pg_last_wal_replay_lsn() >= ?::pg_lsn", Boolean.class, written));
    }

    private static StoreCalls open(OwnPostgres server, FenceSource fences) {
        return ApplicationBackend.on(
                server.url(),
                4,
                Duration.ofSeconds(5),
                PostgresSettings.WAITER_TTL,
                Map.of("syncguard.fences", fences.name())::get);
    }

    private static AcquireRequest request(String key, String letter) {
        return Requests.exclusive(key, letter.repeat(22), TTL, "test");
    }

    private static long granted(StoreCalls backend, AcquireRequest request) {
        AcquireResult result = backend.acquire(request);
        assertThat(result).isInstanceOf(AcquireResult.Granted.class);
        return ((AcquireResult.Granted) result).fence().value();
    }

    private static long rotated(StoreCalls backend, AcquireRequest request) {
        ExtendResult result = backend.rotate(Requests.extension(request.lockId(), TTL));
        assertThat(result).isInstanceOf(ExtendResult.Rotated.class);
        return ((ExtendResult.Rotated) result).fence().value();
    }
}
