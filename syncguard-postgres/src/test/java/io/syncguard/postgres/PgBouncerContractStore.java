package io.syncguard.postgres;

import io.syncguard.core.ContractStoreProvider;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.PgBouncer;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A database of its own until the tests of the class end. Its backends reach it through a PgBouncer that pools
 * transactions.
 */
final class PgBouncerContractStore implements ContractStoreProvider, BeforeAllCallback, AfterAllCallback {

    private PgBouncer pooler;
    private PostgresContractStore store;

    @Override
    public PostgresContractStore emptied() {
        return store.emptied();
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        PgBouncer.assumeInstalled();
        store = new PostgresContractStore(
                url -> {
                    pooler = PgBouncer.poolingTransactions(url);
                    return pooler.url(url);
                },
                PostgresBatching.AUTO,
                FenceSource.COUNTER);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (store != null) {
            store.close();
            pooler.close();
        }
    }
}
