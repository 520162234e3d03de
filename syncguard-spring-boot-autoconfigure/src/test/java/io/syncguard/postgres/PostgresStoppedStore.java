package io.syncguard.postgres;

import io.syncguard.core.StoppedStore;
import io.syncguard.spi.LockBackend;
import java.time.Duration;

/** A database of its own, whose function that reads the clock reads a number. */
public final class PostgresStoppedStore implements StoppedStore {

    private final PostgresContractStore store = new PostgresContractStore();

    public PostgresStoppedStore() {
        // A sequence is outside of transactions: everybody sees the new time at once.
        store.jdbc().execute("CREATE SEQUENCE stopped_clock START 1800000000000");
        new RewrittenFunctions(store.jdbc()).replaceClock("SELECT last_value FROM stopped_clock");
    }

    @Override
    public LockBackend newBackend() {
        return store.newBackend();
    }

    @Override
    public void moveClock(Duration by) {
        store.jdbc()
                .queryForObject(
                        "SELECT setval('stopped_clock', last_value + ?) FROM stopped_clock", Long.class, by.toMillis());
    }

    @Override
    public void sweep(String key) {
        store.sweep(key);
    }

    @Override
    public void close() {
        store.close();
    }
}
