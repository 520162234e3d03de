package io.syncguard.fencing;

import javax.sql.DataSource;

/** On PostgreSQL. */
class PostgresFenceGuardRaceTests extends FenceGuardRaceContract {

    @Override
    DataSource newDatabase() {
        return FenceDatabases.postgres();
    }
}
