package io.syncguard.postgres;

import io.syncguard.core.FenceRotationContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PgBouncerContractStore.class)
class PgBouncerFenceRotationTests extends FenceRotationContract {}
