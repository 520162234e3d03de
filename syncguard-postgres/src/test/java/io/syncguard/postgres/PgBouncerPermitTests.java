package io.syncguard.postgres;

import io.syncguard.core.PermitContract;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PgBouncerContractStore.class)
@Tag("verification")
class PgBouncerPermitTests extends PermitContract {}
