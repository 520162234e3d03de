package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.core.StoppedStore;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.StorageKeys;
import io.syncguard.testing.RedisServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * Keys of its own on the real server, and a backend whose scripts read the time from one of them. That time is days
 * ahead of the server's clock, so that no key ever expires before the test has time pass. Apart from that key, its
 * scripts touch only the keys that they declare.
 */
public final class RedisStoppedStore implements StoppedStore {

    private static final String SCRIPTS = "syncguard/redis/";

    /** Put in front of a script, makes it read the time from a key. */
    private static final String STOPPED_CLOCK = """
            local redis = redis.stopped and redis or setmetatable({ stopped = true, call = function(command, ...)
                local ms, arguments = tonumber(redis.call('GET', 'CLOCK')), { ... }
                if command == 'TIME' then
                    return { string.format('%.0f', math.floor(ms / 1000)), string.format('%.0f', ms % 1000 * 1000) }
                end
                for i = 1, command == 'SET' and #arguments or 0 do
                    if arguments[i] == 'PX' then
                        arguments[i], arguments[i + 1] = 'PXAT', string.format('%.0f', ms + arguments[i + 1])
                    end
                end
                if command ~= 'PTTL' then
                    return redis.call(command, unpack(arguments))
                end
                local function real()
                    local time = redis.call('TIME')
                    return time[1] * 1000 + math.floor(time[2] / 1000)
                end
                local left, before
                repeat
                    before = real()
                    left = redis.call('PTTL', arguments[1])
                until real() == before
                return left < 0 and left or before + left - ms
            end }, { __index = redis })
            """;

    /** Redis expires a key when its time is over, not when it is reached. */
    private static final RedisScript<Void> MOVE = RedisScript.of("""
            local now = redis.call('INCRBY', KEYS[1] .. 'clock', ARGV[1])
            local function real()
                local time = redis.call('TIME')
                return time[1] * 1000 + math.floor(time[2] / 1000)
            end
            for _, key in ipairs(redis.call('KEYS', KEYS[1] .. '*')) do
                local left, before
                repeat
                    before = real()
                    left = redis.call('PTTL', key)
                until real() == before
                if left >= 0 and now > before + left then
                    redis.call('DEL', key)
                end
            end
            """, Void.class);

    /**
     * Removes lapsed members of sets, as the next request or wake-up does. The server itself only deletes a set all of
     * whose members have lapsed.
     */
    private static final String SWEEP = """
            delete_lapsed_entries(lock_keys(1))
            now = now - TOLERANCE - 1
            delete_lapsed_readers(lock_keys(1))
            """;

    private final String prefix = RedisServer.newPrefix() + ":";
    private final LettuceConnectionFactory connections = RedisServer.connections(RedisServer.url());
    private final RedisScriptWatch watch = new RedisScriptWatch(RedisServer.url());
    private final StringRedisTemplate redis;
    private final StoppedScripts stopped = new StoppedScripts(STOPPED_CLOCK.replace("CLOCK", prefix + "clock"));
    private final FenceSource fences;

    public RedisStoppedStore(FenceSource fences) {
        this.fences = fences;
        connections.afterPropertiesSet();
        redis = new StringRedisTemplate(connections);
        watch.watch(prefix);
        redis.opsForValue()
                .set(
                        prefix + "clock",
                        String.valueOf(Instant.now().plus(Duration.ofDays(10)).toEpochMilli()));
    }

    @Override
    public FenceSource fences() {
        return fences;
    }

    @Override
    public StoreCalls newBackend() {
        try {
            Class<?> settings = stopped.loadClass(RedisSettings.class.getName());
            return new StoreCalls((LockBackend) stopped.loadClass(RedisLockBackend.class.getName())
                    .getConstructor(LettuceConnectionFactory.class, settings)
                    .newInstance(
                            connections,
                            settings.getConstructors()[0].newInstance(
                                    prefix, Duration.ofSeconds(5), WAITER_TTL, 1, FenceSettings.from(fences))));
        } catch (ReflectiveOperationException ex) {
            throw new IllegalStateException(ex);
        }
    }

    @Override
    public void moveClock(Duration by) {
        requireDeclaredKeys();
        redis.execute(MOVE, List.of(prefix), String.valueOf(by.toMillis()));
        // Ignore this script, which does what a server does by itself.
        watch.undeclared();
    }

    private void requireDeclaredKeys() {
        assertThat(watch.undeclared())
                .as("commands in scripts, with keys that the scripts have not declared")
                .filteredOn(command -> !command.equals("GET " + prefix + "clock"))
                .isEmpty();
    }

    @Override
    public void sweep(String key) {
        String script = Stream.of("clock", "leases", "queue_expiry", "queue", "grants")
                .map(part -> stopped.text(SCRIPTS + part + ".lua"))
                .collect(Collectors.joining("", "", SWEEP));
        String name = new RedisKeySpace(new StorageKeys(prefix, 1000, 26)).name(key);
        List<String> keys = Stream.of("lock", "fence", "readers", "queue", "shared", "waiting", "waiters")
                .map(family -> prefix + family + ":" + name)
                .toList();
        redis.execute(RedisScript.of(script, Void.class), keys, "");
    }

    @Override
    public void loseCounter(String key) {
        redis.delete(prefix + "fence:" + key);
    }

    @Override
    public void close() {
        try (watch) {
            requireDeclaredKeys();
        } finally {
            connections.destroy();
        }
    }

    /** Loads the backend's classes a second time, with scripts that read the other clock. */
    private static final class StoppedScripts extends ClassLoader {

        private final String beginning;

        /** @param beginning the beginning of each script */
        StoppedScripts(String beginning) {
            super(RedisLockBackend.class.getClassLoader());
            this.beginning = beginning;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(RedisLockBackend.class.getPackageName() + ".")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known == null ? define(name) : known;
            }
        }

        @Override
        public InputStream getResourceAsStream(String name) {
            return name.startsWith(SCRIPTS)
                    ? new ByteArrayInputStream(text(name).getBytes(StandardCharsets.UTF_8))
                    : super.getResourceAsStream(name);
        }

        String text(String name) {
            return beginning + new String(read(name), StandardCharsets.UTF_8);
        }

        private Class<?> define(String name) {
            byte[] code = read(name.replace('.', '/') + ".class");
            return defineClass(name, code, 0, code.length);
        }

        private byte[] read(String name) {
            try (InputStream resource = super.getResourceAsStream(name)) {
                return resource.readAllBytes();
            } catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
    }
}
