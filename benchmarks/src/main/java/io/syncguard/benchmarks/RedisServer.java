package io.syncguard.benchmarks;

import io.syncguard.embedded.OwnRedis;

/** A Redis with databases of many numbers. It writes nothing to the disk. */
final class RedisServer implements Server {

    private final OwnRedis redis = new OwnRedis();

    @Override
    public String description() {
        String version = redis.commands()
                .info("server")
                .lines()
                .filter(line -> line.startsWith("redis_version:"))
                .map(line -> line.substring(line.indexOf(':') + 1))
                .findFirst()
                .orElse("?");
        return "Redis " + version + ", appendonly = "
                + redis.commands().configGet("appendonly").get("appendonly");
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
