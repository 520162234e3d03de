package io.syncguard.postgres;

import io.syncguard.core.ForgedMessagesContract;

/** Sends the messages as every client of PostgreSQL can. */
abstract class PostgresForgedMessagesContract extends ForgedMessagesContract {

    @Override
    protected final void sendToAll(String message) {
        ((PostgresContractStore) store()).sendToWaiters(message);
    }
}
