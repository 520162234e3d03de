package io.syncguard.postgres;

import io.syncguard.core.PermitContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PostgresContractStore.class)
class PostgresPermitTests extends PermitContract {}
