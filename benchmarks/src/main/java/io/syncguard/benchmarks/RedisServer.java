package io.syncguard.benchmarks;

import io.syncguard.embedded.OwnRedis;

/** A Redis with databases of many numbers. It writes nothing to the disk. */
final class RedisServer implements Server {

    private final OwnRedis redis = new OwnRedis();

    @Override
    public String description() {
        return "Redis " + info("redis_version") + ", appendonly = "
                + redis.commands().configGet("appendonly").get("appendonly");
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

    /** There are 16 databases, and they need not be created. */
    @Override
    public String newDatabase(Peer peer) {
        return redis.url() + "/" + Peer.of(Store.REDIS).indexOf(peer);
    }

    @Override
    public void close() {
        redis.close();
    }
}
