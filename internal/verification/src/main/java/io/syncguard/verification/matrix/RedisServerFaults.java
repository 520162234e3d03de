package io.syncguard.verification.matrix;

import io.lettuce.core.KillArgs;
import io.lettuce.core.api.sync.RedisCommands;
import io.syncguard.embedded.OwnRedis;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

/** Faults of a Redis server and of its administrators. */
final class RedisServerFaults {

    private static final String BUSY = """
            local from = redis.call('TIME')[1] * 1
            while redis.call('TIME')[1] - from < 3 do end return 0
            """;

    private final OwnRedis server;
    private final StringRedisTemplate redis;

    RedisServerFaults(RedisSite site) {
        this.server = site.server();
        this.redis = site.redis();
    }

    /** The faults that lose no grant if the server writes each grant to the disk. */
    List<Fault> lossless() {
        return List.of(
                Fault.of(22, "the server is killed and started again", this::restart)
                        .everyNth(2),
                Fault.of(22, "the server stands still", this::freeze).everyNth(2),
                Fault.of(14, "connections are killed", this::killConnections),
                Fault.of(22, "SCRIPT FLUSH", random -> commands().scriptFlush()),
                Fault.of(22, "READONLY: the server becomes a replica", this::becomeReplica)
                        .everyNth(2),
                Fault.of(22, "BUSY: a script runs for long", this::beBusy).everyNth(4),
                Fault.of(22, "OOM: no memory is left", this::useAllMemory).everyNth(2));
    }

    /** The faults that lose grants and counters. */
    List<Fault> losing() {
        return List.of(
                Fault.of(22, "FLUSHALL", random -> commands().flushall()),
                Fault.of(22, "the server is killed and started again", this::restart)
                        .everyNth(2));
    }

    private RedisCommands<String, String> commands() {
        return server.commands();
    }

    private void restart(Random random) {
        server.kill();
        LinkFaults.pause(random, 1, 300);
        server.start();
        Awaitility.await("the server")
                .ignoreExceptions()
                .until(() -> redis.execute((RedisCallback<String>) connection -> connection.ping()) != null);
    }

    private void freeze(Random random) {
        Runnable resume = server.freeze();
        LinkFaults.pause(random, 100, 1800);
        resume.run();
    }

    /** Kills each connection with a chance of one third, and repeats until at least one was killed. */
    private void killConnections(Random random) {
        Awaitility.await("a connection of the library").until(() -> killSome(random) > 0);
    }

    private long killSome(Random random) {
        return commands()
                .clientList()
                .lines()
                .filter(line -> line.contains("name=syncguard") && random.nextInt(3) == 0)
                .map(line -> line.replaceFirst("^id=(\\d+) .*", "$1"))
                .mapToLong(id -> commands().clientKill(KillArgs.Builder.id(Long.parseLong(id))))
                .sum();
    }

    /** Makes the server a replica of a nonexistent master: it keeps its data and refuses writes. */
    private void becomeReplica(Random random) {
        commands().replicaof("127.0.0.1", OwnRedis.freePort());
        LinkFaults.pause(random, 50, 1500);
        commands().replicaofNoOne();
    }

    private void beBusy(Random random) {
        String limit = commands().configGet("lua-time-limit").get("lua-time-limit");
        commands().configSet("lua-time-limit", "50");
        CompletableFuture<?> script =
                CompletableFuture.runAsync(() -> redis.execute((RedisCallback<Object>) connection -> connection
                        .scriptingCommands()
                        .eval(BUSY.getBytes(StandardCharsets.US_ASCII), ReturnType.INTEGER, 0)));
        LinkFaults.pause(random, 200, 1500);
        // On a busy machine, it may not have begun yet, or be over.
        Awaitility.await("the end of the script").ignoreExceptions().until(() -> {
            if (!script.isDone()) {
                commands().scriptKill();
            }
            return script.isDone();
        });
        commands().configSet("lua-time-limit", limit);
    }

    private void useAllMemory(Random random) {
        commands().configSet("maxmemory", "1");
        LinkFaults.pause(random, 50, 1500);
        commands().configSet("maxmemory", "0");
    }
}
