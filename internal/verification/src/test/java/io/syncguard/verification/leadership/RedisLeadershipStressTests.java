package io.syncguard.verification.leadership;

import org.junit.jupiter.api.Tag;

/** Leaders by locks in a Redis that is killed and started again, and remembers what it has answered. */
@Tag("verification")
class RedisLeadershipStressTests extends LeadershipStressContract {

    RedisLeadershipStressTests() {
        super(RedisLeadershipServer::new);
    }
}
