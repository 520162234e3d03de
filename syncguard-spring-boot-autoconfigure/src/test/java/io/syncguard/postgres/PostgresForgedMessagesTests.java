package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.core.ContractStore;
import io.syncguard.core.ForgedMessagesContract;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class PostgresForgedMessagesTests extends ForgedMessagesContract {

    private static PostgresContractStore store;

    @BeforeAll
    static void makeStore() {
        store = new PostgresContractStore();
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
        List<String> channels =
                store.jdbc().queryForList("SELECT DISTINCT channel FROM syncguard_locks_waiters", String.class);
        assertThat(channels).isNotEmpty();
        channels.forEach(channel -> store.jdbc().queryForList("SELECT pg_notify(?, ?)", channel, message));
    }
}
