package io.syncguard.core;

import io.syncguard.shedlock.ShedLockContract;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

@Tag("verification")
class InMemoryShedLockTests extends ShedLockContract {

    @RegisterExtension
    static final ContractStore STORE = new InMemoryContractStore(() -> System.nanoTime() / 1_000_000);
}
