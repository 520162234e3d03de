package io.syncguard.core;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.extension.RegisterExtension;

class InMemoryLockSearchTests extends LockSearchContract {

    private static final AtomicLong clock = new AtomicLong(1_000_000_000_000L);

    @RegisterExtension
    private static final InMemoryContractStore store = new InMemoryContractStore(clock::get);

    @Override
    protected void later() {
        clock.incrementAndGet();
    }
}
