package io.syncguard.postgres;

import io.syncguard.core.FenceRotationContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PostgresContractStore.class)
class PostgresFenceRotationTests extends FenceRotationContract {}
