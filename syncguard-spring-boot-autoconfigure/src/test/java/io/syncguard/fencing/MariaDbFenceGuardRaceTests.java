package io.syncguard.fencing;

import javax.sql.DataSource;

/** On MariaDB, with its driver. */
class MariaDbFenceGuardRaceTests extends FenceGuardRaceContract {

    @Override
    DataSource newDatabase() {
        return FenceDatabases.mariaDb();
    }
}
