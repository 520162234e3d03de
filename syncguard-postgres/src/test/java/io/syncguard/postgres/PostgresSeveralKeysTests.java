package io.syncguard.postgres;

import io.syncguard.core.SeveralKeysContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PostgresContractStore.class)
class PostgresSeveralKeysTests extends SeveralKeysContract {}
