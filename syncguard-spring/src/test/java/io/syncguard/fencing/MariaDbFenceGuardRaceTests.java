package io.syncguard.fencing;

import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;

/** On MariaDB, with its driver. */
@Tag("verification")
class MariaDbFenceGuardRaceTests extends FenceGuardRaceContract {

    @Override
    DataSource newDatabase() {
        return FenceDatabases.mariaDb();
    }
}
