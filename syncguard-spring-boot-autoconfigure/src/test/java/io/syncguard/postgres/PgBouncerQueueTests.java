package io.syncguard.postgres;

import io.syncguard.core.QueueContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PgBouncerContractStore.class)
class PgBouncerQueueTests extends QueueContract {}
