package io.syncguard.verification.leadership;

import io.lettuce.core.Range;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.leader.LeaderProcess;
import io.syncguard.redis.RedisSettings;
import io.syncguard.testing.RedisProxy;
import io.syncguard.testing.ServerProxy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A separate Redis for the run, which kills it. The server writes each grant to disk before it answers. */
final class RedisLeadershipServer implements LeadershipServer {

    /** The set of waiters, by the ends of their queue entries. Dead waiters stay in it for a while. */
    private static final String WAITING = RedisSettings.KEY_PREFIX + "waiting:leader:" + LeaderProcess.ELECTION;

    private final OwnRedis server;

    RedisLeadershipServer(Path directory) throws IOException {
        Path files = Files.createDirectories(directory.resolve("redis")).toAbsolutePath();
        server = new OwnRedis("appendonly yes", "appendfsync always", "dir \"" + files + "\"");
    }

    @Override
    public ServerProxy newProxy() {
        return new RedisProxy(server.url());
    }

    @Override
    public int waiters() {
        Range<Long> live = Range.from(Range.Boundary.excluding(System.currentTimeMillis()), Range.Boundary.unbounded());
        return server.commands().zcount(WAITING, live).intValue();
    }

    @Override
    public void stop() {
        server.kill();
    }

    @Override
    public void start() {
        server.start();
    }

    @Override
    public void close() {
        server.close();
    }
}
