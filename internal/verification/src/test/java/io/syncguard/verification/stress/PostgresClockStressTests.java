package io.syncguard.verification.stress;

import io.syncguard.spi.FenceSource;
import org.junit.jupiter.api.Tag;

/** Locks in PostgreSQL with fences by the clock, whose counters are forgotten all the time. Shorter in a build. */
@Tag("verification")
class PostgresClockStressTests extends StressContract {

    private static final int SECONDS = 5;

    PostgresClockStressTests() {
        super(surroundings -> new PostgresStressServer(surroundings, FenceSource.CLOCK), SECONDS);
    }
}
