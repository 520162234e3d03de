package io.syncguard.postgres;

import io.syncguard.core.PermitContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PgBouncerContractStore.class)
class PgBouncerPermitTests extends PermitContract {}
