package io.syncguard.fencing;

import javax.sql.DataSource;

/** On PostgreSQL. */
class PostgresFenceGuardTests extends FenceGuardContract {

    @Override
    DataSource newDatabase() {
        return FenceDatabases.postgres();
    }
}
