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

    /** An insert does not wait for another transaction and continue with the row of that one. */
    @Override
    boolean firstChecksMayConflict() {
        return true;
    }
}
