package io.syncguard.benchmarks;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** A Redis with databases of many numbers. It writes nothing to the disk. */
final class RedisServer implements Server {

    private final redis.embedded.RedisServer embedded;
    private final String url;

    RedisServer() throws IOException {
        int port = freePort();
        this.url = "redis://127.0.0.1:" + port;
        this.embedded = redis.embedded.RedisServer.newRedisServer()
                .bind("127.0.0.1")
                .port(port)
                .setting("save \"\"")
                .setting("appendonly no")
                .build();
        embedded.start();
    }

    @Override
    public String description() {
        try (RedisClient client = RedisClient.create(url);
                StatefulRedisConnection<String, String> connection = client.connect()) {
            String version = connection
                    .sync()
                    .info("server")
                    .lines()
                    .filter(line -> line.startsWith("redis_version:"))
                    .map(line -> line.substring(line.indexOf(':') + 1))
                    .findFirst()
                    .orElse("?");
            return "Redis " + version + ", appendonly = "
                    + connection.sync().configGet("appendonly").get("appendonly");
        }
    }

    /** There are 16 of them, and they need not be made. */
    @Override
    public String newDatabase(Peer peer) {
        return url + "/" + Peer.of(Store.REDIS).indexOf(peer);
    }

    @Override
    public void close() throws IOException {
        embedded.stop();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
