package io.syncguard.check;

import io.syncguard.check.Finding.Part;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.ScanOptions;
import org.springframework.data.redis.core.StringRedisTemplate;

/** Redis, Valkey or a service with their protocol: one server, a cluster, or behind Sentinel. */
final class RedisServer implements Server {

    private static final int CONNECTIONS = 8;

    private static final int MESSAGE_SECONDS = 3;

    /** The longest wait for an answer. */
    static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final Map<String, String> login;
    private final AnnotationConfigApplicationContext application = new AnnotationConfigApplicationContext();
    private final LettuceConnectionFactory connections;
    private final StringRedisTemplate redis;
    private boolean wakeUps;

    /** @param login the settings of Spring Boot that lead to the server */
    RedisServer(Map<String, String> login) {
        this.login = Map.copyOf(login);
        Map<String, Object> settings = new LinkedHashMap<>(login);
        // The end of a check must not wait for long if the server is away.
        settings.put("spring.data.redis.timeout", TIMEOUT.toSeconds() + "s");
        application.getEnvironment().getPropertySources().addFirst(new MapPropertySource("login", settings));
        application.register(DataRedisAutoConfiguration.class);
        application.refresh();
        connections = application.getBean(LettuceConnectionFactory.class);
        redis = application.getBean(StringRedisTemplate.class);
    }

    Map<String, String> login() {
        return login;
    }

    LettuceConnectionFactory connections() {
        return connections;
    }

    @Override
    public List<String> secrets() {
        return login.values().stream()
                .flatMap(value -> Stream.of(value.split("[/?&,:@]")))
                .toList();
    }

    StringRedisTemplate redis() {
        return redis;
    }

    boolean isCluster() {
        return connections.isClusterAware();
    }

    @Override
    public String product() {
        Properties info = info(redis);
        String valkey = info.getProperty("valkey_version");
        String dragonfly = info.getProperty("dragonfly_version");
        return valkey != null
                ? "Valkey " + valkey
                : dragonfly != null ? dragonfly : "Redis " + first(info, "redis_version");
    }

    @Override
    public long roundTrip() {
        long from = System.nanoTime();
        redis.execute(RedisConnection::ping);
        return System.nanoTime() - from;
    }

    @Override
    public Times.Benchmark benchmark() {
        return Times.Benchmark.REDIS;
    }

    @Override
    public long clockMillis() {
        return redis.execute(
                (RedisCallback<Long>) connection -> connection.serverCommands().time());
    }

    @Override
    public List<Finding> look() {
        List<Finding> findings = new ArrayList<>();
        findings.add(version());
        findings.addAll(servers());
        findings.add(eviction());
        findings.addAll(persistence());
        findings.add(messages());
        findings.addAll(leftovers());
        return findings;
    }

    private Finding version() {
        return all(info(redis), "redis_version").stream().anyMatch(each -> each.matches("([0-5]\\.|6\\.[01]\\.).*"))
                ? Finding.broken(Part.LOOK, "version", product() + " is older than 6.2", "Use Redis 6.2 or later")
                : Finding.holds(Part.LOOK, "version", product());
    }

    private List<Finding> servers() {
        Set<String> ids = new LinkedHashSet<>();
        int replicas = 0;
        for (int i = 0; i < CONNECTIONS; i++) {
            Properties info = infoOnNewConnection();
            ids.add(first(info, "run_id"));
            replicas += first(info, "role").equals("master") ? 0 : 1;
        }
        List<Finding> findings = new ArrayList<>();
        findings.add(
                replicas == 0
                        ? Finding.holds(Part.LOOK, "primary server", "all connections reach a master")
                        : Finding.broken(
                                Part.LOOK,
                                "primary server",
                                replicas + " of " + CONNECTIONS
                                        + " connections reached a replica, which takes no writes",
                                "Use an address of the master alone, Sentinel, or the primary endpoint of a cloud"));
        findings.add(
                ids.size() == 1
                        ? Finding.holds(Part.LOOK, "one server", "all connections reach the same server")
                        : Finding.broken(
                                Part.LOOK,
                                "one server",
                                "the address leads to " + ids.size()
                                        + " servers in turn: a lock of one is unknown to the others",
                                "Use an address that always leads to the same server"));
        return findings;
    }

    /** A cluster and Sentinel know their servers, so their usual connections are enough. */
    private Properties infoOnNewConnection() {
        RedisStandaloneConfiguration server = connections.getStandaloneConfiguration();
        if (server == null || isCluster() || connections.isRedisSentinelAware()) {
            return info(redis);
        }
        LettuceConnectionFactory one = new LettuceConnectionFactory(server, connections.getClientConfiguration());
        one.afterPropertiesSet();
        one.start();
        try {
            return info(new StringRedisTemplate(one));
        } finally {
            one.destroy();
        }
    }

    private Finding eviction() {
        List<String> policies = all(info(redis), "maxmemory_policy");
        String policy = String.join(", ", policies);
        if (policies.stream().anyMatch(each -> each.startsWith("allkeys") || each.startsWith("volatile"))) {
            return Finding.broken(
                    Part.LOOK,
                    "no lease vanishes",
                    "maxmemory-policy is " + policy + ": when its memory is full, the server deletes locks",
                    "Set maxmemory-policy noeviction, or give the locks a server of their own");
        }
        return Finding.holds(Part.LOOK, "no lease vanishes", "maxmemory-policy is " + policy);
    }

    private List<Finding> persistence() {
        List<Finding> findings = new ArrayList<>();
        Properties info = info(redis);
        List<String> fsync = config("appendfsync");
        if (all(info, "aof_enabled").contains("0")) {
            findings.add(Finding.warning(
                    Part.LOOK,
                    "restart",
                    "appendonly is no: a restart frees keys that are locked",
                    "Set appendonly yes and appendfsync always if a restart must not free locked keys"));
        } else if (fsync.isEmpty()) {
            findings.add(Finding.notTried(Part.LOOK, "restart", "the user may not ask for appendfsync"));
        } else if (!fsync.equals(List.of("always"))) {
            findings.add(Finding.warning(
                    Part.LOOK,
                    "restart",
                    "appendfsync is " + String.join(", ", fsync)
                            + ": a crash of the machine frees keys that were locked in the last second",
                    "Set appendfsync always"));
        } else {
            findings.add(Finding.holds(Part.LOOK, "restart", "each grant is on the disk before its answer"));
        }
        if (all(info, "connected_slaves").stream().anyMatch(replicas -> !replicas.equals("0"))) {
            findings.add(Finding.warning(
                    Part.LOOK,
                    "failover",
                    "replicas are asynchronous: a failover forgets the last grants",
                    "Refuse stale holders by fences, or keep these locks in PostgreSQL"));
        }
        return findings;
    }

    @Override
    public boolean deliversWakeUps() {
        return wakeUps;
    }

    private Finding messages() {
        String channel = RedisArea.prefix(Check.newName()) + "wake:look";
        CountDownLatch arrived = new CountDownLatch(1);
        try (RedisConnection listener = connections.getConnection()) {
            listener.subscribe((message, pattern) -> arrived.countDown(), channel.getBytes(StandardCharsets.UTF_8));
            redis.convertAndSend(channel, "");
            if (arrived.await(MESSAGE_SECONDS, TimeUnit.SECONDS)) {
                wakeUps = true;
                return Finding.holds(Part.LOOK, "wake-ups", "a message arrives");
            }
        } catch (DataAccessException ex) {
            return Finding.warning(
                    Part.LOOK, "wake-ups", "the user may not use a channel of the locks", rightsOfAreas());
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        return Finding.warning(
                Part.LOOK, "wake-ups", "no message arrived within " + MESSAGE_SECONDS + " s", "Waiters poll, slower");
    }

    private List<Finding> leftovers() {
        List<String> left = new ArrayList<>();
        try (var keys = redis.scan(ScanOptions.scanOptions()
                .match("{syncguard_check_*")
                .count(1000)
                .build())) {
            while (keys.hasNext() && left.size() < 10) {
                left.add(keys.next());
            }
        } catch (RuntimeException ex) {
            return List.of(Finding.notTried(Part.LOOK, "leftovers", "the user may not list keys"));
        }
        return left.isEmpty()
                ? List.of()
                : List.of(Finding.warning(
                        Part.LOOK, "leftovers", "keys of an earlier check are left", "Delete {syncguard_check_*"));
    }

    /** The values on all nodes. Empty if they are not told. */
    private List<String> config(String name) {
        try {
            Properties answer = redis.execute((RedisCallback<Properties>)
                    connection -> connection.serverCommands().getConfig(name));
            return answer == null ? List.of() : all(answer, name);
        } catch (DataAccessException ex) {
            // Clouds refuse the command.
            return List.of();
        }
    }

    private static Properties info(StringRedisTemplate redis) {
        Properties info = redis.execute((RedisCallback<Properties>)
                connection -> connection.serverCommands().info());
        return info == null ? new Properties() : info;
    }

    /** The value of the only server, or of a node of a cluster. */
    private static String first(Properties info, String name) {
        return all(info, name).stream().findFirst().orElse("?");
    }

    /** The different values of the only server, or of the nodes of a cluster. */
    private static List<String> all(Properties info, String name) {
        return info.stringPropertyNames().stream()
                .filter(each -> each.equals(name) || each.endsWith("." + name))
                .sorted()
                .map(info::getProperty)
                .distinct()
                .toList();
    }

    /** The address of the server; null for a cluster, for Sentinel, and with TLS, which checks the host. */
    @Nullable
    String address() {
        String url = login.get("spring.data.redis.url");
        if (url == null || url.startsWith("rediss:")) {
            return null;
        }
        URI address = URI.create(url);
        return address.getHost() + ":" + (address.getPort() < 0 ? 6379 : address.getPort());
    }

    @Override
    public String rightsOfAreas() {
        return "ACL SETUSER <user> ~{syncguard_check_* &{syncguard_check_* +incr, and the commands under \"Rights on"
                + " Redis\" in docs/security.md";
    }

    @Override
    public Area newArea() {
        RedisArea area = new RedisArea(this, Check.newName());
        area.checkRights();
        return area;
    }

    @Override
    public void close() {
        application.close();
    }
}
