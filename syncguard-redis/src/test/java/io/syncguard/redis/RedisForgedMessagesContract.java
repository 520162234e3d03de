package io.syncguard.redis;

import io.syncguard.core.ForgedMessagesContract;

/** Sends the messages as every client of Redis can. */
abstract class RedisForgedMessagesContract extends ForgedMessagesContract {

    @Override
    protected final void sendToAll(String message) {
        ((RedisContractStore) store()).sendToWaiters(KEY, message);
    }
}
