package io.syncguard.jdbc;

import io.syncguard.LockErrorCode;
import io.syncguard.concurrent.Chain;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The reason why every lock operation fails on a connection. */
public interface ConnectionRefusal {

    /** What is wrong. */
    String problem();

    /** What the user can do: each of these solves the problem. */
    List<String> nextSteps();

    default LockErrorCode code() {
        return LockErrorCode.INVALID_ARGUMENT;
    }

    /** Returns the refusal that the error or one of its causes reports; {@code null} if there is none. */
    static @Nullable ConnectionRefusal of(SQLException error) {
        return Chain.causes(error)
                .filter(ConnectionRefusal.class::isInstance)
                .map(ConnectionRefusal.class::cast)
                .findFirst()
                .orElse(null);
    }
}
