package io.syncguard.postgres;

import io.syncguard.core.DirectHandOverContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PgBouncerContractStore.class)
class PgBouncerDirectHandOverTests extends DirectHandOverContract {}
