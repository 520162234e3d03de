package io.syncguard.postgres;

import io.syncguard.LockErrorCode;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Why no lock operation can succeed on a connection, whatever the server is asked. */
interface ConnectionRefusal {

    /** What is wrong. */
    String problem();

    /** What the user has to do: one of these. */
    List<String> nextSteps();

    default LockErrorCode code() {
        return LockErrorCode.INVALID_ARGUMENT;
    }

    /** The refusal that the error or a cause of it reports; null if there is none. */
    static @Nullable ConnectionRefusal of(SQLException error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof ConnectionRefusal refusal) {
                return refusal;
            }
        }
        return PoolerRefusal.of(error);
    }
}
