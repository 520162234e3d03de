package io.syncguard.benchmarks;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The limit for locks that use scripts: the same round trips, through the driver of SyncGuard and Spring Integration,
 * without any work.
 */
final class EmptyScripts implements Contender {

    /** The held keys. The server does not store them, because all contenders are in this process. */
    private static final Set<String> HELD = ConcurrentHashMap.newKeySet();

    private final RedisClient client;
    private final RedisCommands<String, String> commands;
    private final String digest;

    EmptyScripts(String url) {
        this.client = RedisClient.create(url);
        this.commands = client.connect().sync();
        this.digest = commands.scriptLoad("return 0");
    }

    @Override
    public boolean attempt(String key, Runnable body) {
        if (!HELD.add(key)) {
            run(key);
            return false;
        }
        try {
            run(key);
            body.run();
            run(key);
        } finally {
            HELD.remove(key);
        }
        return true;
    }

    @Override
    public void close() {
        client.close();
    }

    private void run(String key) {
        commands.evalsha(digest, ScriptOutputType.INTEGER, key);
    }
}
