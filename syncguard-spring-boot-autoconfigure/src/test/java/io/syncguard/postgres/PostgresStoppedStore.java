package io.syncguard.postgres;

import io.syncguard.core.StoppedStore;
import io.syncguard.spi.LockBackend;
import java.time.Duration;

/** A database of its own, whose function that reads the clock reads a number. */
public final class PostgresStoppedStore implements StoppedStore {

    private final PostgresContractStore store = new PostgresContractStore();
    private final RewrittenFunctions functions = new RewrittenFunctions(store.jdbc());

    public PostgresStoppedStore() {
        functions.stopClock();
    }

    @Override
    public LockBackend newBackend() {
        return store.newBackend();
    }

    @Override
    public void moveClock(Duration by) {
        functions.moveClock(by);
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
