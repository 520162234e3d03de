package io.syncguard.verification.queue;

import org.junit.jupiter.api.Tag;

/** Locks in MariaDB. */
@Tag("verification")
class MariaDbInterruptStormTests extends InterruptStormContract {

    MariaDbInterruptStormTests() {
        super(new MariaDbQueueServer());
    }
}
