package io.syncguard.integration;

import io.syncguard.postgres.PostgresContractStore;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PostgresContractStore.class)
class PostgresLockRegistryTests extends LockRegistryContract {}
