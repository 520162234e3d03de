package io.syncguard.verification.stress;

/** Locks in four shards on a cluster of three masters, each of which is disturbed by itself. */
class RedisClusterStressTests extends StressContract {

    RedisClusterStressTests() {
        super(RedisClusterStressServer::new, 8);
    }
}
