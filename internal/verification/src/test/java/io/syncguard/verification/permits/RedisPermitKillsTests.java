package io.syncguard.verification.permits;

import io.syncguard.verification.queue.RedisQueueServer;
import org.junit.jupiter.api.Tag;

/** Permits in Redis. */
@Tag("verification")
class RedisPermitKillsTests extends PermitKillsContract {

    RedisPermitKillsTests() {
        super(new RedisQueueServer());
    }
}
