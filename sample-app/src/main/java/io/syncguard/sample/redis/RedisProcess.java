package io.syncguard.sample.redis;

import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.FileSystemUtils;
import redis.embedded.RedisServer;
import redis.embedded.core.ExecutableProvider;

/**
 * The operating system's side of the sample's Redis: its process, which no Java process is the parent of, and its directory.
 *
 * @param pid the process id of the server
 * @param directory what this server needs: its program and {@code server.log}
 */
record RedisProcess(long pid, Path directory) {

    private static final Logger LOG = LoggerFactory.getLogger(RedisProcess.class);

    private static final Pattern PID = Pattern.compile("process_id:(\\d+)");

    private static final Duration TIME_TO_STOP = Duration.ofSeconds(10);

    /** Where everything of this user's sample is kept; another user cannot be in the way. */
    static Path home() throws IOException {
        Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
        Path home = temporary.resolve("syncguard-sample-redis-" + System.getProperty("user.name"));
        return Files.createDirectories(home).toRealPath();
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /**
     * Starts a server on this port, which listens soon, and is empty whenever it starts.
     *
     * @return its directory
     */
    static Path start(int port) throws IOException {
        LOG.info("Starting a Redis for the sample");
        Path directory = Files.createTempDirectory(home(), "server-");
        Path log = log(directory);
        List<String> command = RedisServer.newRedisServer()
                .executableProvider(ExecutableProvider.newJarResourceProvider(directory.toFile()))
                .bind("127.0.0.1")
                .port(port)
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

    /** The process that answers this connection; {@code null} when it is not one of this user's sample. */
    static @Nullable RedisProcess behind(RedisCommands<String, String> connection) throws IOException {
        Path directory = Path.of(connection.configGet("dir").getOrDefault("dir", ""));
        Matcher pid = PID.matcher(connection.info("server"));
        return directory.startsWith(home()) && pid.find()
                ? new RedisProcess(Long.parseLong(pid.group(1)), directory)
                : null;
    }

    static Path log(Path directory) {
        return directory.resolve("server.log");
    }

    /** Stops the server and removes its directory. */
    void stop() throws IOException {
        ProcessHandle process = ProcessHandle.of(pid)
                // A server behind a forwarded port has its id from another system, where it means another process.
                .filter(found -> found.info().command().orElse("").contains("redis"))
                .orElse(null);
        if (process != null && process.destroy() && hasEnded(process)) {
            FileSystemUtils.deleteRecursively(directory);
            LOG.info("Stopped the Redis of the sample");
        } else {
            LOG.info("The Redis of the sample does not stop: {}", this);
        }
    }

    private static boolean hasEnded(ProcessHandle process) {
        long deadline = System.nanoTime() + TIME_TO_STOP.toNanos();
        try {
            // Not onExit(): where the process is no child of this one, that looks only every few seconds.
            while (process.isAlive() && System.nanoTime() - deadline < 0) {
                Thread.sleep(50);
            }
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        return !process.isAlive();
    }

    /** There a program has no session to be given, and a Ctrl-C that ends this process ends Redis, too. */
    private static boolean isWindows() {
        return System.getProperty("os.name").startsWith("Windows");
    }

    private static String quoted(Path path) {
        return '"' + path.toString().replace('\\', '/') + '"';
    }

    @Override
    public String toString() {
        return "process " + pid + ", files in " + directory;
    }
}
