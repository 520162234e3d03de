package io.syncguard.postgres;

import io.syncguard.LockErrorCode;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The reason why every lock operation fails on a connection. */
interface ConnectionRefusal {

    /** What is wrong. */
    String problem();

    /** What the user can do: each of these solves the problem. */
    List<String> nextSteps();

    default LockErrorCode code() {
        return LockErrorCode.INVALID_ARGUMENT;
    }

    /** Returns the refusal that the error or one of its causes reports; {@code null} if there is none. */
    static @Nullable ConnectionRefusal of(SQLException error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof ConnectionRefusal refusal) {
                return refusal;
            }
        }
        return PoolerRefusal.of(error);
    }
}
