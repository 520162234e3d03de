package io.syncguard.verification.stress;

import org.junit.jupiter.api.Tag;

/** Locks in four shards on a cluster of three masters, each of which is disturbed by itself. */
@Tag("verification")
class RedisClusterStressTests extends StressContract {

    RedisClusterStressTests() {
        super(RedisClusterStressServer::new, 8);
    }
}
