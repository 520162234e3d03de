package io.syncguard.transaction;

import io.syncguard.spi.LeasePins;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The store of an engine, as a guard of commits.
 *
 * @param name for messages
 * @param pins pins its leases; {@code null} if it cannot
 */
record GuardingStore(String name, @Nullable LeasePins pins) {

    /** Why a transaction on this connection cannot be guarded; {@code null} if it can. */
    @Nullable
    String whyNot(@Nullable Connection connection) throws SQLException {
        if (pins == null) {
            return whyNever();
        }
        return connection == null
                ? "its transaction manager binds no JDBC connection to the thread"
                : pins.whyNot(connection);
    }

    /** Why no transaction can be guarded by a store without pins. */
    String whyNever() {
        return "the lock is in " + name;
    }
}
