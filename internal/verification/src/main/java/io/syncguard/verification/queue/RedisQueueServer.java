package io.syncguard.verification.queue;

import io.lettuce.core.ClientListArgs;
import io.lettuce.core.KillArgs;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.redis.RedisSettings;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A separate Redis for the test. */
public final class RedisQueueServer implements CountingQueueServer {

    private static final Pattern ID = Pattern.compile("\\bid=(\\d+)");

    private final OwnRedis server = new OwnRedis();

    @Override
    public String url() {
        return server.url();
    }

    @Override
    public int waiters(String key) {
        return server.commands()
                .zcard(RedisSettings.KEY_PREFIX + "queue:" + key)
                .intValue();
    }

    @Override
    public long requests() {
        return calls("evalsha");
    }

    @Override
    public long wakeUps() {
        return calls("publish");
    }

    private long calls(String command) {
        Matcher calls = Pattern.compile("cmdstat_" + command + ":calls=(\\d+)")
                .matcher(server.commands().info("commandstats"));
        return calls.find() ? Long.parseLong(calls.group(1)) : 0;
    }

    @Override
    public List<String> lockIds() {
        String prefix = RedisSettings.KEY_PREFIX + "id:";
        return server.commands().keys(prefix + "*").stream()
                .map(key -> key.substring(prefix.length()))
                .toList();
    }

    @Override
    public void endListener() {
        List<MatchResult> listeners = ID.matcher(server.commands().clientList(ClientListArgs.Builder.typePubsub()))
                .results()
                .toList();
        if (!listeners.isEmpty()) {
            MatchResult any = listeners.get(ThreadLocalRandom.current().nextInt(listeners.size()));
            server.commands().clientKill(KillArgs.Builder.id(Long.parseLong(any.group(1))));
        }
    }

    @Override
    public void close() {
        server.close();
    }
}
