package io.syncguard.redis;

import io.syncguard.core.StoppedStore;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.RedisServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * Keys of its own on the real server, and a backend whose scripts read the time from one of them. That time is days
 * ahead of the server's clock, so that no key ever expires before the test has time pass.
 */
public final class RedisStoppedStore implements StoppedStore {

    private static final String LEASES = "syncguard/redis/leases.lua";
    private static final String QUEUE = "syncguard/redis/queue.lua";

    /** Stands before a script, which then reads the time from a key. */
    private static final String STOPPED_CLOCK = """
            local redis = setmetatable({ call = function(command, ...)
                if command ~= 'TIME' then
                    return redis.call(command, ...)
                end
                local ms = redis.call('GET', KEYS[1] .. 'clock')
                return { math.floor(ms / 1000), ms % 1000 * 1000 }
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
            delete_lapsed_entries(ARGV[1])
            for _, family in pairs(LEASES) do
                redis.call('ZREMRANGEBYSCORE', key(family, ARGV[1]), '-inf', '(' .. text(now - 2 * TOLERANCE))
            end
            """;

    private final String prefix = RedisServer.newPrefix() + ":";
    private final LettuceConnectionFactory connections = RedisServer.connections(RedisServer.url());
    private final StringRedisTemplate redis;
    private final StoppedScripts stopped = new StoppedScripts();
    private final FenceSource fences;

    public RedisStoppedStore(FenceSource fences) {
        this.fences = fences;
        connections.afterPropertiesSet();
        redis = new StringRedisTemplate(connections);
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
    public LockBackend newBackend() {
        try {
            Class<?> settings = stopped.loadClass(RedisSettings.class.getName());
            Class<?> batching = stopped.loadClass(RedisBatching.class.getName());
            return (LockBackend) stopped.loadClass(RedisLockBackend.class.getName())
                    .getConstructor(LettuceConnectionFactory.class, settings)
                    .newInstance(
                            connections,
                            settings.getConstructors()[0].newInstance(
                                    prefix,
                                    Duration.ofSeconds(5),
                                    WAITER_TTL,
                                    1,
                                    batching.getEnumConstants()[0],
                                    FenceSettings.from(fences)));
        } catch (ReflectiveOperationException ex) {
            throw new IllegalStateException(ex);
        }
    }

    @Override
    public void moveClock(Duration by) {
        redis.execute(MOVE, List.of(prefix), String.valueOf(by.toMillis()));
    }

    @Override
    public void sweep(String key) {
        String script = stopped.leases() + stopped.text(QUEUE) + SWEEP;
        redis.execute(RedisScript.of(script, Void.class), List.of(prefix), "", key);
    }

    @Override
    public void loseCounter(String key) {
        redis.delete(prefix + "fence:" + key);
    }

    @Override
    public void close() {
        connections.destroy();
    }

    /** Loads the backend's classes a second time, with scripts that read the other clock. */
    private static final class StoppedScripts extends ClassLoader {

        StoppedScripts() {
            super(RedisLockBackend.class.getClassLoader());
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
            return name.equals(LEASES)
                    ? new ByteArrayInputStream(leases().getBytes(StandardCharsets.UTF_8))
                    : super.getResourceAsStream(name);
        }

        String leases() {
            return STOPPED_CLOCK + text(LEASES);
        }

        String text(String name) {
            return new String(read(name), StandardCharsets.UTF_8);
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
