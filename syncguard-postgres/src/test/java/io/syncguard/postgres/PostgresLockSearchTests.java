package io.syncguard.postgres;

import io.syncguard.core.LockSearchContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PostgresContractStore.class)
class PostgresLockSearchTests extends LockSearchContract {}
