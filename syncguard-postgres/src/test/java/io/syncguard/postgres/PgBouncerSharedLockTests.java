package io.syncguard.postgres;

import io.syncguard.core.SharedLockContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PgBouncerContractStore.class)
class PgBouncerSharedLockTests extends SharedLockContract {}
