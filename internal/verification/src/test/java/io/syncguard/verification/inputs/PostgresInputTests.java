package io.syncguard.verification.inputs;

import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.PostgresServer;

/** Locks in PostgreSQL. */
class PostgresInputTests extends LockInputContract {

    PostgresInputTests() {
        super(InputSettings.of(1_500, 3));
    }

    @Override
    LockBackend open() {
        return ApplicationBackend.on(PostgresServer.newDatabaseUrl());
    }
}
