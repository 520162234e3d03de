package io.syncguard.portable;

import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(MariaDbKitTests.Store.class)
class MariaDbSessionTests extends PortableSessionTests {

    MariaDbSessionTests() {
        super(
                new MySqlDialect(),
                "SET SESSION innodb_lock_wait_timeout = 77, idle_transaction_timeout = 88",
                "SELECT @@innodb_lock_wait_timeout AS a, @@idle_transaction_timeout AS b");
    }
}
