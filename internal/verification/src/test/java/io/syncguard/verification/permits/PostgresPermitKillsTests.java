package io.syncguard.verification.permits;

import io.syncguard.verification.queue.PostgresQueueServer;
import org.junit.jupiter.api.Tag;

/** Permits in PostgreSQL. */
@Tag("verification")
class PostgresPermitKillsTests extends PermitKillsContract {

    PostgresPermitKillsTests() {
        super(new PostgresQueueServer());
    }
}
