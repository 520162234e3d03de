package io.syncguard.core;

import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(InMemoryContractStore.class)
class InMemoryPermitTests extends PermitContract {}
