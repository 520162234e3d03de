package io.syncguard.leader;

/** Leaders by locks in PostgreSQL. */
class PostgresLeadershipStressTests extends LeadershipStressContract {

    PostgresLeadershipStressTests() {
        super(directory -> new PostgresLeadershipServer());
    }
}
