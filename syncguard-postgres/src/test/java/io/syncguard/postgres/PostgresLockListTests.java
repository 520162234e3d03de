package io.syncguard.postgres;

import io.syncguard.core.LockListContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PostgresContractStore.class)
class PostgresLockListTests extends LockListContract {}
