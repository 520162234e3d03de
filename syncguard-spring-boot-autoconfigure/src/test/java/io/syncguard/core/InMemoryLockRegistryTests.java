package io.syncguard.core;

import io.syncguard.integration.LockRegistryContract;
import org.junit.jupiter.api.extension.RegisterExtension;

class InMemoryLockRegistryTests extends LockRegistryContract {

    @RegisterExtension
    static final ContractStore STORE = new InMemoryContractStore(() -> System.nanoTime() / 1_000_000);
}
