package io.syncguard.core;

import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(InMemoryContractStore.class)
class InMemorySeveralKeysTests extends SeveralKeysContract {}
