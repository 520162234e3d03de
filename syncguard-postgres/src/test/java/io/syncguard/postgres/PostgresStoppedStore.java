package io.syncguard.postgres;

import io.syncguard.core.StoppedStore;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.FenceSource;
import java.time.Duration;

/** A database of its own, in which the function for the clock reads a number instead. */
public final class PostgresStoppedStore implements StoppedStore {

    private final PostgresContractStore store;
    private final ReplacedFunctions functions;

    public PostgresStoppedStore(FenceSource fences) {
        store = new PostgresContractStore(PostgresBatching.AUTO, fences);
        functions = new ReplacedFunctions(store.jdbc());
        functions.stopClock();
        // The backends have the rights of the manual, which knows no such clock.
        store.jdbc().execute("GRANT SELECT, UPDATE ON SEQUENCE test_clock TO " + store.role());
    }

    @Override
    public FenceSource fences() {
        return store.fences();
    }

    @Override
    public StoreCalls newBackend() {
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
    public void loseCounter(String key) {
        store.jdbc().update("DELETE FROM syncguard_fence_counters WHERE key_debug = ?", key);
    }

    @Override
    public void close() {
        store.close();
    }
}
