package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.core.ContractStore;
import io.syncguard.core.ForgedMessagesContract;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class RedisForgedMessagesTests extends ForgedMessagesContract {

    private static RedisContractStore store;

    @BeforeAll
    static void makeStore() {
        store = new RedisContractStore();
    }

    @AfterAll
    static void closeConnections() {
        store.close();
    }

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
