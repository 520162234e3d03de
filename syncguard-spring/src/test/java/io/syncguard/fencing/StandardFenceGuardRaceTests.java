package io.syncguard.fencing;

import javax.sql.DataSource;

/** On a database without a statement of its own: HSQLDB. */
class StandardFenceGuardRaceTests extends FenceGuardRaceContract {

    @Override
    DataSource newDatabase() {
        return FenceDatabases.standard();
    }

    /** Its insert does not wait for that of another transaction and continue with what that one left. */
    @Override
    boolean firstChecksMayConflict() {
        return true;
    }
}
