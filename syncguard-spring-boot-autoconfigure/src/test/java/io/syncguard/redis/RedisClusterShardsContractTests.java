package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.core.ContractStore;
import io.syncguard.core.DirectHandOverContract;
import io.syncguard.core.FenceRotationContract;
import io.syncguard.core.ForgedMessagesContract;
import io.syncguard.core.LockBackendContract;
import io.syncguard.core.QueueContract;
import io.syncguard.core.QueueEntryContract;
import io.syncguard.core.SharedLockContract;
import io.syncguard.core.WokenWaitersContract;
import io.syncguard.embedded.OwnRedisCluster;
import io.syncguard.leader.LeadershipContract;
import io.syncguard.spi.LockBackend;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;

/** The whole contract with four shards, on three masters. */
class RedisClusterShardsContractTests {

    private static OwnRedisCluster cluster;
    private static RedisContractStore store;

    @BeforeAll
    static void startCluster() {
        cluster = new OwnRedisCluster();
        store = new RedisContractStore(cluster.connections(), 4, RedisBatching.AUTO);
    }

    @AfterAll
    static void stopCluster() {
        store.close();
        cluster.close();
    }

    @BeforeEach
    void leaveKeys() {
        store.emptied();
    }

    @Nested
    class Backend extends LockBackendContract {

        @Override
        protected LockBackend newBackend() {
            return store.newBackend();
        }

        @Override
        protected void expire(String key) {
            store.expire(key);
        }

        @Override
        protected long storedFence(String key) {
            return store.storedFence(key);
        }
    }

    @Nested
    class SharedLocks extends SharedLockContract {

        @Override
        protected ContractStore emptyStore() {
            return store.emptied();
        }
    }

    @Nested
    class Queue extends QueueContract {

        @Override
        protected ContractStore emptyStore() {
            return store.emptied();
        }
    }

    @Nested
    class QueueEntries extends QueueEntryContract {

        @Override
        protected ContractStore emptyStore() {
            return store.emptied();
        }
    }

    @Nested
    class DirectHandOvers extends DirectHandOverContract {

        @Override
        protected ContractStore emptyStore() {
            return store.emptied();
        }
    }

    @Nested
    class FenceRotation extends FenceRotationContract {

        @Override
        protected ContractStore emptyStore() {
            return store.emptied();
        }
    }

    @Nested
    class WokenWaiters extends WokenWaitersContract {

        @Override
        protected ContractStore emptyStore() {
            return store.emptied();
        }
    }

    @Nested
    class Leadership extends LeadershipContract {

        @Override
        protected ContractStore emptyStore() {
            return store.emptied();
        }
    }

    @Nested
    class ForgedMessages extends ForgedMessagesContract {

        @Override
        protected ContractStore emptyStore() {
            return store.emptied();
        }

        @Override
        protected void sendToAll(String message) {
            Set<String> entries = store.redis().opsForZSet().range(store.key("queue", KEY), 0, -1);
            assertThat(entries).isNotEmpty();
            entries.forEach(entry -> store.redis().convertAndSend(entry.split(":", 5)[4], message));
        }
    }
}
