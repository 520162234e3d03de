package io.syncguard.verification.leadership;

import org.junit.jupiter.api.Tag;

/** Leaders by locks in PostgreSQL. */
@Tag("verification")
class PostgresLeadershipStressTests extends LeadershipStressContract {

    PostgresLeadershipStressTests() {
        super(directory -> new PostgresLeadershipServer());
    }
}
