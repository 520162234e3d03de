package io.syncguard.fencing;

import javax.sql.DataSource;

/** On a database without a statement of its own: HSQLDB. */
class StandardFenceGuardRaceTests extends FenceGuardRaceContract {

    @Override
    DataSource newDatabase() {
        return FenceDatabases.standard();
    }

    /** An insert does not wait for another transaction and continue with the row of that one. */
    @Override
    boolean firstChecksMayConflict() {
        return true;
    }
}
