package io.syncguard.verification.permits;

import io.syncguard.verification.queue.MariaDbQueueServer;
import org.junit.jupiter.api.Tag;

/** Permits in MariaDB. */
@Tag("verification")
class MariaDbPermitKillsTests extends PermitKillsContract {

    MariaDbPermitKillsTests() {
        super(new MariaDbQueueServer());
    }
}
