package io.syncguard.integration;

import io.syncguard.core.ContractStore;
import io.syncguard.core.InMemoryContractStore;
import org.junit.jupiter.api.extension.RegisterExtension;

class InMemoryLockRegistryTests extends LockRegistryContract {

    @RegisterExtension
    static final ContractStore STORE = new InMemoryContractStore(() -> System.nanoTime() / 1_000_000);
}
