package io.syncguard.verification.leadership;

/** Leaders by locks in PostgreSQL. */
class PostgresLeadershipStressTests extends LeadershipStressContract {

    PostgresLeadershipStressTests() {
        super(directory -> new PostgresLeadershipServer());
    }
}
