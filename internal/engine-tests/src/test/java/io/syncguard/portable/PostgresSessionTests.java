package io.syncguard.portable;

import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PostgresKitTests.Store.class)
class PostgresSessionTests extends PortableSessionTests {

    PostgresSessionTests() {
        super(
                new PostgresDialect(),
                "SELECT set_config('lock_timeout', '77s', false), set_config('synchronous_commit', 'off', false),"
                        + " set_config('idle_in_transaction_session_timeout', '88s', false)",
                "SELECT current_setting('lock_timeout') AS a, current_setting('synchronous_commit') AS b,"
                        + " current_setting('idle_in_transaction_session_timeout') AS c");
    }
}
