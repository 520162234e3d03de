package io.syncguard.core;

import io.syncguard.concurrent.Time;
import org.junit.jupiter.api.extension.RegisterExtension;

class InMemoryLockBackendTests extends LockBackendContract {

    @RegisterExtension
    private static final InMemoryContractStore running =
            new InMemoryContractStore(() -> Time.SYSTEM.nanoTime() / 1_000_000);
}
