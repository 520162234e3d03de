package io.syncguard.benchmarks;

import io.syncguard.embedded.OwnRedis;

/** A Redis with several numbered databases. It writes nothing to the disk unless the settings say so. */
final class RedisServer implements Server {

    private final OwnRedis redis;

    /** @param settings lines of the configuration file */
    RedisServer(String... settings) {
        redis = new OwnRedis(settings);
    }

    @Override
    public String description() {
        return "Redis " + info("redis_version") + ", " + setting("appendonly") + ", " + setting("appendfsync");
    }

    private String setting(String name) {
        return name + " = " + redis.commands().configGet(name).get(name);
    }

    @Override
    public long processId() {
        return Long.parseLong(info("process_id"));
    }

    private String info(String field) {
        return redis.commands()
                .info("server")
                .lines()
                .filter(line -> line.startsWith(field + ":"))
                .map(line -> line.substring(line.indexOf(':') + 1))
                .findFirst()
                .orElseThrow();
    }

    /** Returns one of the 16 databases, which exist already. */
    @Override
    public String newDatabase(Peer peer) {
        return redis.url() + "/" + peer.number();
    }

    @Override
    public void close() {
        redis.close();
    }
}
