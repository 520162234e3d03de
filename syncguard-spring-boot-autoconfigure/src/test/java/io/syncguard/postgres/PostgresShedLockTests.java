package io.syncguard.postgres;

import io.syncguard.shedlock.ShedLockContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PostgresContractStore.class)
class PostgresShedLockTests extends ShedLockContract {}
