package io.syncguard.verification.queue;

/** Locks in PostgreSQL. */
class PostgresInterruptStormTests extends InterruptStormContract {

    PostgresInterruptStormTests() {
        super(new PostgresQueueServer());
    }
}
