package io.syncguard.fencing;

import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;

/** On H2, in memory. */
@Tag("verification")
class H2FenceGuardRaceTests extends FenceGuardRaceContract {

    @Override
    DataSource newDatabase() {
        return FenceDatabases.h2();
    }

    /** Its insert does not wait for that of another transaction and continue with what that one left. */
    @Override
    boolean firstChecksMayConflict() {
        return true;
    }
}
