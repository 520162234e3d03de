package io.syncguard.postgres;

import io.syncguard.integration.LockRegistryContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PostgresContractStore.class)
class PostgresLockRegistryTests extends LockRegistryContract {}
