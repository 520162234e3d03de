package io.syncguard.embedded;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.util.FileSystemUtils;
import redis.embedded.RedisServer;
import redis.embedded.core.RedisServerBuilder;

/**
 * A separate embedded Redis for a test that would disturb others on the shared one. It can be stopped, and started
 * again on the same port. By default it writes nothing to the disk, so it is empty after a restart. The environment
 * variable {@value #BINARY} names the executable of another server or version that is started instead, and {@value
 * #PROTOCOL} the protocol of its clients: {@code RESP2} or {@code RESP3}.
 */
public final class OwnRedis implements AutoCloseable {

    private static final String BINARY = "SYNCGUARD_TEST_REDIS_BINARY";

    private static final String PROTOCOL = "SYNCGUARD_TEST_REDIS_PROTOCOL";

    private final int port = freePort();
    private final @Nullable Path binary;
    private final Path files = RunDirectory.newDirectory("redis");
    private final List<String> settings;
    private RedisServer server;
    private @Nullable RedisClient client;
    private @Nullable RedisCommands<String, String> commands;

    /** @param settings lines of its configuration file */
    public OwnRedis(String... settings) {
        this(isOfAnotherBinary() ? Path.of(System.getenv(BINARY)) : null, settings);
    }

    /** @param binary the executable; {@code null} for the embedded one */
    public OwnRedis(@Nullable Path binary, String... settings) {
        this.binary = binary;
        this.settings = List.of(settings);
        start();
    }

    /** Whether the environment variable names another executable than the embedded one. */
    public static boolean isOfAnotherBinary() {
        return System.getenv(BINARY) != null;
    }

    /** The driver configuration of an application, with the chosen protocol if any. */
    public static LettuceClientConfiguration clientConfiguration() {
        String protocol = System.getenv(PROTOCOL);
        return LettuceClientConfiguration.builder()
                .clientOptions(ClientOptions.builder()
                        .protocolVersion(protocol == null ? null : ProtocolVersion.valueOf(protocol))
                        .build())
                .build();
    }

    public int port() {
        return port;
    }

    /** The URL of the user without a password. */
    public String url() {
        return "redis://127.0.0.1:" + port;
    }

    /** The same for another user. */
    public String url(String user, String password) {
        return "redis://" + user + ":" + password + "@127.0.0.1:" + port;
    }

    /** The commands of a separate client. */
    public RedisCommands<String, String> commands() {
        if (commands == null) {
            commands = client().connect().sync();
        }
        return commands;
    }

    private RedisClient client() {
        if (client == null) {
            client = RedisClient.create(url());
        }
        return client;
    }

    /** Runs the commands on a new connection: the old one may not have detected a restart of the server yet. */
    private <T> T ask(Function<RedisCommands<String, String>, T> question) {
        try (StatefulRedisConnection<String, String> connection = client().connect()) {
            return question.apply(connection.sync());
        }
    }

    /** The section of INFO with this name, on a new connection. */
    public String ask(String section) {
        return ask(commands -> commands.info(section));
    }

    /** Makes this server a replica of the other one. */
    public void follow(OwnRedis master) {
        ask(commands -> commands.replicaof("127.0.0.1", master.port));
    }

    /** Pauses all commands that may write, including scripts, until {@link #goOn}. */
    public void pauseWrites() {
        client("PAUSE", "60000", "WRITE");
    }

    public void goOn() {
        client("UNPAUSE");
    }

    private void client(String... arguments) {
        CommandArgs<String, String> all = new CommandArgs<>(StringCodec.UTF8);
        List.of(arguments).forEach(all::add);
        ask(commands -> commands.dispatch(CommandType.CLIENT, new StatusOutput<>(StringCodec.UTF8), all));
    }

    /** Kills the server like a crash: it saves nothing, and clients get no message. */
    public void kill() {
        ProcessHandle process = ProcessHandle.of(pid()).orElseThrow();
        process.destroyForcibly();
        process.onExit().join();
    }

    /** Suspends the process until the returned action runs. Requests arrive, but the server does not read them. */
    public Runnable freeze() {
        long pid = pid();
        Signals.send("STOP", List.of(pid));
        return () -> Signals.send("CONT", List.of(pid));
    }

    private long pid() {
        return ask("server")
                .lines()
                .filter(line -> line.startsWith("process_id:"))
                .mapToLong(line -> Long.parseLong(line.substring("process_id:".length())))
                .findFirst()
                .orElseThrow();
    }

    public void start() {
        RedisServerBuilder builder = RedisServer.newRedisServer()
                .bind("127.0.0.1")
                .port(port)
                .setting("save \"\"")
                .setting("appendonly no");
        // The default is the directory of the executable, where a server would read the files of another version.
        builder.setting("dir " + quoted(files));
        builder.setting("pidfile " + quoted(files.resolve("redis.pid")));
        if (binary != null) {
            builder.executableProvider(binary::toFile);
        }
        settings.forEach(builder::setting);
        try {
            server = builder.build();
            server.start();
        } catch (IOException ex) {
            throw new UncheckedIOException("The embedded Redis did not start", ex);
        }
    }

    public void stop() {
        try {
            server.stop();
        } catch (IOException ex) {
            throw new UncheckedIOException("The embedded Redis did not stop", ex);
        }
    }

    @Override
    public void close() {
        if (client != null) {
            client.shutdown();
        }
        stop();
        try {
            FileSystemUtils.deleteRecursively(files);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Finds a free port. The port ten thousand above is free as well: cluster nodes use it among themselves. */
    public static int freePort() {
        while (true) {
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                int port = socket.getLocalPort();
                if (port <= 55_535 && isFree(port + 10_000)) {
                    return port;
                }
            } catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException ex) {
            return false;
        }
    }

    static String quoted(Path path) {
        return '"' + path.toString().replace('\\', '/') + '"';
    }
}
