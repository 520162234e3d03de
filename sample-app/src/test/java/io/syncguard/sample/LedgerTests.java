package io.syncguard.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.Fence;
import io.syncguard.StaleFenceException;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.transaction.annotation.Transactional;

/**
 * The ledger refuses former leaders by their fences. The bookings of the tests are rolled back, so that they do not
 * affect the leader.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, properties = "sample.postgres-port=0")
@Transactional
class LedgerTests {

    private static final Fence FENCE = new Fence(1_000_000);

    private final Ledger ledger;

    LedgerTests(@Autowired Ledger ledger) {
        this.ledger = ledger;
    }

    @Test
    void aLeaderBooksAgainUnderTheSameFence() {
        ledger.book(5, FENCE);

        ledger.book(6, FENCE);

        assertThat(ledger.read().orders()).isEqualTo(6);
    }

    @Test
    void aLeaderOfThePastIsRefusedByItsSmallerFence() {
        ledger.book(5, FENCE);

        assertThatExceptionOfType(StaleFenceException.class)
                .isThrownBy(() -> ledger.book(4, new Fence(FENCE.value() - 1)));

        assertThat(ledger.read().orders()).isEqualTo(5);
    }
}
