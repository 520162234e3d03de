package io.syncguard.postgres;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.jdbc.ConnectionRefusal;
import java.sql.SQLException;
import java.util.List;

/** The server refused a statement, because the user lacks rights to tables or functions of SyncGuard. */
final class MissingRightException extends SQLException implements ConnectionRefusal {

    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String[] nextSteps;

    /** @param missing which rights, and the statements that grant them */
    MissingRightException(LockSetupException missing, SQLException refused) {
        super(refused.getMessage(), refused.getSQLState(), refused);
        this.problem = missing.problem();
        this.nextSteps = missing.nextSteps().toArray(String[]::new);
    }

    @Override
    public String problem() {
        return problem;
    }

    @Override
    public List<String> nextSteps() {
        return List.of(nextSteps);
    }

    @Override
    public LockErrorCode code() {
        return LockErrorCode.AUTH_FAILED;
    }

    /** The error of the server. */
    static SQLException refusedBy(SQLException error) {
        return error instanceof MissingRightException missing && missing.getCause() instanceof SQLException refused
                ? refused
                : error;
    }
}
