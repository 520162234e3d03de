package io.syncguard.fencing;

import javax.sql.DataSource;

/** On H2, in memory. */
class H2FenceGuardTests extends FenceGuardContract {

    @Override
    DataSource newDatabase() {
        return FenceDatabases.h2();
    }
}
