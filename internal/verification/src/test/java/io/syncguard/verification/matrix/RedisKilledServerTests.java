package io.syncguard.verification.matrix;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.RunDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.springframework.util.FileSystemUtils;

@Tag("verification")
class RedisKilledServerTests extends KilledServerContract {

    private static final Path DIRECTORY = RunDirectory.newDirectory("redis");
    private static OwnRedis server;
    private static RedisClient client;

    @BeforeAll
    static void startServer() {
        server = new OwnRedis("dir \"" + DIRECTORY + "\"", "appendonly yes", "appendfsync always");
        client = RedisClient.create(server.url());
    }

    @AfterAll
    static void stopServer() throws IOException {
        client.shutdown();
        server.close();
        FileSystemUtils.deleteRecursively(DIRECTORY);
    }

    @Override
    int port() {
        return server.port();
    }

    @Override
    String url(int port) {
        return "redis://127.0.0.1:" + port;
    }

    @Override
    void kill() {
        server.kill();
    }

    @Override
    void start() {
        server.start();
    }

    @Override
    List<String> stored(String key) {
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            RedisCommands<String, String> redis = connection.sync();
            return redis.keys("*").stream()
                    .sorted()
                    .filter(name -> name.contains(key) || name.contains(":id:"))
                    .flatMap(name -> Stream.of(name, value(redis, name)))
                    .toList();
        }
    }

    private static String value(RedisCommands<String, String> redis, String name) {
        return switch (redis.type(name)) {
            case "hash" -> new TreeMap<>(redis.hgetall(name)).toString();
            case "zset" -> redis.zrangeWithScores(name, 0, -1).toString();
            default -> String.valueOf(redis.get(name));
        };
    }
}
