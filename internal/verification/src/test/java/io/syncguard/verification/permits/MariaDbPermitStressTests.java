package io.syncguard.verification.permits;

import io.syncguard.verification.queue.MariaDbQueueServer;
import org.junit.jupiter.api.Tag;

/** Permits in MariaDB. */
@Tag("verification")
class MariaDbPermitStressTests extends PermitStressContract {

    MariaDbPermitStressTests() {
        super(new MariaDbQueueServer());
    }
}
