package io.syncguard.postgres;

import io.syncguard.core.ForcedReleaseContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PostgresContractStore.class)
class PostgresForcedReleaseTests extends ForcedReleaseContract {}
