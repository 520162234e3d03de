package io.syncguard.postgres;

import io.syncguard.core.LockBackendContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PostgresContractStore.class)
class PostgresLockBackendTests extends LockBackendContract {}
