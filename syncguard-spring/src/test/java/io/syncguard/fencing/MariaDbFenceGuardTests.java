package io.syncguard.fencing;

import javax.sql.DataSource;

/** On MariaDB, with its driver. */
class MariaDbFenceGuardTests extends FenceGuardContract {

    @Override
    DataSource newDatabase() {
        return FenceDatabases.mariaDb();
    }
}
