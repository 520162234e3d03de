package io.syncguard.postgres;

import io.syncguard.core.SeveralKeysContract;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("verification")
@ExtendWith(PgBouncerContractStore.class)
class PgBouncerSeveralKeysTests extends SeveralKeysContract {}
