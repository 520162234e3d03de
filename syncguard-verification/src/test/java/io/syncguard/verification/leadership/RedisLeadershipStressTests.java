package io.syncguard.verification.leadership;

/** Leaders by locks in a Redis that is killed and started again, and remembers what it has answered. */
class RedisLeadershipStressTests extends LeadershipStressContract {

    RedisLeadershipStressTests() {
        super(RedisLeadershipServer::new);
    }
}
