package io.syncguard.embedded;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.embedded.RedisServer;
import redis.embedded.core.ExecutableProvider;

/** Starts a Redis that outlives this process. */
final class RedisStarter {

    private static final Logger LOG = LoggerFactory.getLogger(RedisStarter.class);

    private final SharedServer shared;

    RedisStarter(SharedServer shared) {
        this.shared = shared;
    }

    static boolean isRunning(SharedServer shared) throws IOException {
        return pidFile(shared).process().isPresent();
    }

    static PidFile pidFile(SharedServer shared) throws IOException {
        return new PidFile(shared.directory().resolve("redis.pid"));
    }

    /** Starts an empty server in a new directory. It listens soon after this returns. */
    void start() throws IOException {
        LOG.info("Starting a Redis ({})", shared.name());
        shared.createDirectory("Redis");
        Path directory = shared.directory();
        List<String> command = RedisServer.newRedisServer()
                .executableProvider(ExecutableProvider.newJarResourceProvider(directory.toFile()))
                .bind("127.0.0.1")
                .port(shared.port())
                // A session of its own: neither a Ctrl-C in the terminal nor the end of this process reaches it.
                .settingIf(!isWindows(), "daemonize yes")
                .setting("dir " + OwnRedis.quoted(directory))
                .setting("pidfile " + OwnRedis.quoted(pidFile(shared).path()))
                .setting("logfile " + OwnRedis.quoted(shared.log()))
                .setting("save \"\"")
                .setting("appendonly no")
                .setting("maxmemory-policy noeviction")
                .buildCommandArgs();
        try {
            new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    // A pipe would end with this process.
                    .redirectOutput(Redirect.appendTo(shared.log().toFile()))
                    .start();
        } catch (IOException ex) {
            throw shared.notStarted("Redis", ex);
        }
    }

    /** Windows has no sessions, so that a Ctrl-C that ends this process ends Redis, too. */
    private static boolean isWindows() {
        return System.getProperty("os.name").startsWith("Windows");
    }
}
