package io.syncguard.shedlock;

import io.syncguard.postgres.PostgresContractStore;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PostgresContractStore.class)
class PostgresShedLockTests extends ShedLockContract {}
