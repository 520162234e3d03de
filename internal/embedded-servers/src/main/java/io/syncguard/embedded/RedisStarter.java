package io.syncguard.embedded;

import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.embedded.RedisServer;
import redis.embedded.core.ExecutableProvider;

/** Starts a Redis that outlives this process, and recognises one that another process has started like this. */
final class RedisStarter {

    private static final Logger LOG = LoggerFactory.getLogger(RedisStarter.class);

    private static final Pattern PID = Pattern.compile("process_id:(\\d+)");

    private final SharedServer shared;

    RedisStarter(SharedServer shared) {
        this.shared = shared;
    }

    /**
     * Starts a server. It listens soon after this returns, and is empty after every start.
     *
     * @return the directory of the server
     */
    Path start() throws IOException {
        LOG.info("Starting a Redis ({})", shared.name());
        Path directory = Files.createTempDirectory(shared.home(), "server-");
        Path log = ServerProcess.log(directory);
        List<String> command = RedisServer.newRedisServer()
                .executableProvider(ExecutableProvider.newJarResourceProvider(directory.toFile()))
                .bind("127.0.0.1")
                .port(shared.port())
                // A session of its own: neither a Ctrl-C in the terminal nor the end of this process reaches it.
                .settingIf(!isWindows(), "daemonize yes")
                .setting("dir " + quoted(directory))
                .setting("logfile " + quoted(log))
                .setting("save \"\"")
                .setting("appendonly no")
                .setting("maxmemory-policy noeviction")
                .buildCommandArgs();
        new ProcessBuilder(command)
                .redirectErrorStream(true)
                // A pipe would end with this process.
                .redirectOutput(Redirect.appendTo(log.toFile()))
                .start();
        return directory;
    }

    /** The server process of this connection; {@code null} if the server is not the shared one. */
    @Nullable
    ServerProcess behind(RedisCommands<String, String> connection) throws IOException {
        Path directory = Path.of(connection.configGet("dir").getOrDefault("dir", ""));
        Matcher pid = PID.matcher(connection.info("server"));
        return directory.startsWith(shared.home()) && pid.find()
                ? new ServerProcess("redis", Long.parseLong(pid.group(1)), directory)
                : null;
    }

    /** Windows has no sessions, so that a Ctrl-C that ends this process ends Redis, too. */
    private static boolean isWindows() {
        return System.getProperty("os.name").startsWith("Windows");
    }

    private static String quoted(Path path) {
        return '"' + path.toString().replace('\\', '/') + '"';
    }
}
