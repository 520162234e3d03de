package io.syncguard.shedlock;

import io.syncguard.core.ContractStore;
import io.syncguard.core.InMemoryContractStore;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

@Tag("verification")
class InMemoryShedLockTests extends ShedLockContract {

    @RegisterExtension
    static final ContractStore STORE = new InMemoryContractStore(() -> System.nanoTime() / 1_000_000);
}
