package io.syncguard.postgres;

import io.syncguard.core.DirectHandOverContract;
import io.syncguard.core.FenceRotationContract;
import io.syncguard.core.SharedLockContract;
import io.syncguard.spi.FenceSource;
import org.junit.jupiter.api.extension.ExtendWith;

/** Fences come from the clock. The contracts about fences follow, on this store. */
class PostgresClockStore extends PostgresContractStore {

    PostgresClockStore() {
        this(PostgresBatching.AUTO);
    }

    PostgresClockStore(PostgresBatching batching) {
        super(batching, FenceSource.CLOCK);
    }
}

/** Fences come from the clock, and each request of callers goes in a batch. */
final class PostgresBatchedClockStore extends PostgresClockStore {

    PostgresBatchedClockStore() {
        super(PostgresBatching.ALWAYS);
    }
}

@ExtendWith(PostgresClockStore.class)
class PostgresClockFenceRotationTests extends FenceRotationContract {}

@ExtendWith(PostgresClockStore.class)
class PostgresClockDirectHandOverTests extends DirectHandOverContract {}

@ExtendWith(PostgresBatchedClockStore.class)
class PostgresBatchedClockSharedLockTests extends SharedLockContract {}
