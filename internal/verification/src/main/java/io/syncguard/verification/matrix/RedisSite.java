package io.syncguard.verification.matrix;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.RunDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.util.FileSystemUtils;

/** Locks in one Redis, to which each process has a separate link; applications in the shared PostgreSQL. */
final class RedisSite implements LocksInRedis {

    private final Path directory = RunDirectory.newDirectory("redis");
    private final OwnRedis server;
    private String classPath = "";
    private final String persistence;
    private final List<FaultyLink> links = new ArrayList<>();
    private final Access access;

    /** @param persistence lines of the configuration file; {@code dir} is already set */
    RedisSite(int processes, String... persistence) {
        this(processes, null, persistence);
    }

    /** @param binary another executable; {@code null} for the embedded one */
    RedisSite(int processes, @Nullable Path binary, String... persistence) {
        this.persistence = String.join(", ", persistence);
        this.server = new OwnRedis(
                binary,
                Stream.concat(Stream.of("dir \"" + directory + "\""), Stream.of(persistence))
                        .toArray(String[]::new));
        this.access = Access.by(new LettuceConnectionFactory(
                new RedisStandaloneConfiguration("127.0.0.1", server.port()),
                LettuceClientConfiguration.builder()
                        .commandTimeout(Duration.ofSeconds(20))
                        .clientOptions(ClientOptions.builder()
                                .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                                .build())
                        .build()));
        for (int i = 0; i < processes; i++) {
            links.add(new FaultyLink(server.port()));
        }
    }

    /** A site whose scripts have a clock that {@link Clocks#ofRedis} moves. */
    static RedisSite withMovableClock(int processes, String... persistence) {
        RedisSite site = new RedisSite(processes, persistence);
        Path scripts = site.directory.resolve("scripts");
        Clocks.changeScript(scripts);
        site.classPath = scripts.toString();
        return site;
    }

    @Override
    public String classPath() {
        return classPath;
    }

    OwnRedis server() {
        return server;
    }

    List<FaultyLink> links() {
        return links;
    }

    StringRedisTemplate redis() {
        return access.redis();
    }

    /** True, because the server may start from an earlier snapshot. */
    @Override
    public boolean bringsBackEnded() {
        return persistence.startsWith("save ");
    }

    @Override
    public String description() {
        return "Redis " + info("server", "redis_version") + ", " + persistence;
    }

    private String info(String section, String field) {
        return server.commands()
                .info(section)
                .lines()
                .filter(line -> line.startsWith(field + ":"))
                .map(line -> line.substring(field.length() + 1))
                .findFirst()
                .orElseThrow();
    }

    @Override
    public Access access() {
        return access;
    }

    @Override
    public List<String> address(int process) {
        return List.of("spring.data.redis.url=redis://127.0.0.1:"
                + links.get(process % links.size()).port());
    }

    @Override
    public List<OwnRedis> servers() {
        return List.of(server);
    }

    @Override
    public Map<String, Double> sizes() {
        Map<String, Double> sizes = new LinkedHashMap<>();
        sizes.put("memory of the server, MB", Double.parseDouble(info("memory", "used_memory")) / 1e6);
        sizes.put("connections", (double) connections());
        return sizes;
    }

    @Override
    public void close() throws IOException {
        links.forEach(FaultyLink::close);
        access.close();
        server.close();
        FileSystemUtils.deleteRecursively(directory);
    }
}
