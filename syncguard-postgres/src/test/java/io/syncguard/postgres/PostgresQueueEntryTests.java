package io.syncguard.postgres;

import io.syncguard.core.QueueEntryContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PostgresContractStore.class)
class PostgresQueueEntryTests extends QueueEntryContract {}
