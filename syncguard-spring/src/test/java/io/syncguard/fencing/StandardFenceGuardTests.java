package io.syncguard.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import java.util.List;
import javax.sql.DataSource;

/** On a database without a statement of its own: HSQLDB. */
class StandardFenceGuardTests extends FenceGuardContract {

    @Override
    DataSource newDatabase() {
        return FenceDatabases.standard();
    }

    /** HSQLDB does not tell a missing table from one that the user may not see. */
    @Override
    void assertReportsMissingTable(LockException error) {
        assertThat(error.code()).isEqualTo(LockErrorCode.AUTH_FAILED);
        assertThat(error).hasRootCauseMessage("user lacks privilege or object not found: SYNCGUARD_FENCES");
    }

    /** The collation of HSQLDB ignores blanks at the end. Collations of other databases may ignore more. */
    @Override
    List<String> resourcesThatDiffer() {
        return super.resourcesThatDiffer().stream()
                .filter(resource -> !resource.endsWith(" "))
                .toList();
    }
}
