package io.syncguard.fencing;

import javax.sql.DataSource;

/** On MariaDB, with the driver of MySQL. */
class MySqlDriverFenceGuardTests extends FenceGuardContract {

    @Override
    DataSource newDatabase() {
        return FenceDatabases.mySqlDriver();
    }
}
