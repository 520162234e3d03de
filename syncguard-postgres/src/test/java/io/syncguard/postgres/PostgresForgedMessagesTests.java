package io.syncguard.postgres;

import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PostgresContractStore.class)
class PostgresForgedMessagesTests extends PostgresForgedMessagesContract {}
