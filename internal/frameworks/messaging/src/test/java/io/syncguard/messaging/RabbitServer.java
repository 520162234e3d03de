package io.syncguard.messaging;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.syncguard.embedded.RunDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitAdmin;
import org.springframework.amqp.rabbit.core.RabbitTemplate;

/**
 * The RabbitMQ of Debian's package, with a client outside of all applications. Tests are reported as skipped, with the
 * reason, if it is not installed.
 */
public final class RabbitServer implements AutoCloseable {

    private static final Path PROGRAM = Path.of("/usr/lib/rabbitmq/bin/rabbitmq-server");

    private static final Path PORT_MAPPER = Path.of("/usr/bin/epmd");

    private final Process portMapper;
    private final Process server;
    private final int port;
    private final CachingConnectionFactory connections;

    private RabbitServer(Process portMapper, Process server, int port) {
        this.portMapper = portMapper;
        this.server = server;
        this.port = port;
        this.connections = new CachingConnectionFactory("127.0.0.1", port);
    }

    /** Starts a server. Skips the test if RabbitMQ is not installed. */
    public static RabbitServer start() {
        assumeTrue(Files.isExecutable(PROGRAM), PROGRAM + " is no program: install RabbitMQ to run these tests");
        try {
            Path directory = RunDirectory.newDirectory("rabbitmq");
            int port = freePort();
            int portMapper = freePort();
            RabbitServer started = new RabbitServer(
                    // Otherwise the server starts one that outlives it.
                    launch(List.of(PORT_MAPPER.toString(), "-address", "127.0.0.1"), portMapper, directory, Map.of()),
                    launch(List.of(PROGRAM.toString()), portMapper, directory, settings(directory, port)),
                    port);
            Runtime.getRuntime().addShutdownHook(new Thread(started::stop));
            started.awaitReady();
            return started;
        } catch (IOException ex) {
            throw new UncheckedIOException("RabbitMQ did not start", ex);
        }
    }

    /** The property with which an application uses the server. */
    public String property() {
        return "spring.rabbitmq.addresses=127.0.0.1:" + port;
    }

    public RabbitTemplate client() {
        return new RabbitTemplate(connections);
    }

    /** How many messages of a queue nobody has acknowledged, while no listener is connected. */
    public long messagesIn(String queue) {
        return new RabbitAdmin(connections).getQueueInfo(queue).getMessageCount();
    }

    public void purge(String... queues) {
        Stream.of(queues).forEach(queue -> new RabbitAdmin(connections).purgeQueue(queue));
    }

    @Override
    public void close() {
        connections.destroy();
        stop();
    }

    private void stop() {
        List.of(server, portMapper).forEach(process -> {
            process.descendants().forEach(ProcessHandle::destroy);
            process.destroy();
            process.onExit().join();
        });
    }

    private void awaitReady() {
        Awaitility.await("RabbitMQ")
                .atMost(Duration.ofMinutes(2))
                .ignoreExceptions()
                .until(() -> connections.createConnection().isOpen());
    }

    private static Map<String, String> settings(Path directory, int port) throws IOException {
        return Map.of(
                "RABBITMQ_NODENAME", "syncguard@localhost",
                "RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1",
                "RABBITMQ_NODE_PORT", String.valueOf(port),
                "RABBITMQ_DIST_PORT", String.valueOf(freePort()),
                "RABBITMQ_MNESIA_BASE", directory.resolve("data").toString(),
                "RABBITMQ_LOG_BASE", directory.resolve("log").toString(),
                "RABBITMQ_ENABLED_PLUGINS_FILE", directory.resolve("plugins").toString(),
                "RABBITMQ_CONFIG_FILE", directory.resolve("none").toString(),
                "RABBITMQ_CONF_ENV_FILE", directory.resolve("none").toString());
    }

    private static Process launch(List<String> command, int portMapper, Path directory, Map<String, String> settings)
            throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        directory.resolve("output").toFile()));
        builder.environment().putAll(settings);
        // The cookie of Erlang.
        builder.environment().put("HOME", directory.toString());
        builder.environment().put("ERL_EPMD_PORT", String.valueOf(portMapper));
        builder.environment().put("ERL_EPMD_ADDRESS", "127.0.0.1");
        Process process = builder.start();
        String program = Path.of(command.get(0)).getFileName().toString();
        Files.writeString(directory.resolve(program + ".pid"), String.valueOf(process.pid()));
        return process;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
