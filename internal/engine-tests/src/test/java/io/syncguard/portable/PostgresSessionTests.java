package io.syncguard.portable;

import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PostgresKitTests.Store.class)
class PostgresSessionTests extends PortableSessionTests {

    PostgresSessionTests() {
        super(
                new PostgresDialect(),
                "SELECT set_config('lock_timeout', '77s', false),"
                        + " set_config('idle_in_transaction_session_timeout', '88s', false)",
                "SELECT replace(current_setting('lock_timeout'), 's', '') AS a,"
                        + " replace(current_setting('idle_in_transaction_session_timeout'), 's', '') AS b");
    }
}
