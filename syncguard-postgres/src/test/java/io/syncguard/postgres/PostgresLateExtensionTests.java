package io.syncguard.postgres;

import io.syncguard.core.LateExtensionContract;
import io.syncguard.core.StoreCalls;
import io.syncguard.testing.PostgresProxy;
import io.syncguard.testing.PostgresServer;
import io.syncguard.testing.ServerProxy;
import org.junit.jupiter.api.BeforeAll;

class PostgresLateExtensionTests extends LateExtensionContract {

    private static String url;

    @BeforeAll
    static void makeDatabase() {
        url = PostgresServer.newDatabaseUrl();
    }

    @Override
    protected ServerProxy newProxy() {
        return new PostgresProxy(url);
    }

    @Override
    protected String url() {
        return url;
    }

    @Override
    protected StoreCalls newBackend(String url) {
        return PooledPostgres.on(url);
    }
}
