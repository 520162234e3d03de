package io.syncguard.verification.stress;

import io.syncguard.embedded.OwnRedis;
import io.syncguard.testing.RedisProxy;
import io.syncguard.verification.history.HistoryEvent;
import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.recording.HistoryRecorder;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.core.types.RedisClientInfo;

/**
 * The faults in Redis, on the way to it, and of the server itself. Records each change of a lease.
 */
final class RedisFaults {

    /** The name of the library's connections. The faults must not kill those of the test. */
    private static final String VICTIMS = "syncguard";

    private static final String CLIENT = "faults";
    private static final long MILLI = 1_000_000;

    /** Lock id, key and family of a random lease, of a hot key if there is one. */
    private static final RedisScript<List<String>> ANY_LEASE = script("""
            local sets = {}
            for _, pattern in ipairs({ 'hot*', '*' }) do
                for _, family in ipairs({ 'lock:', 'readers:' }) do
                    for _, set in ipairs(redis.call('KEYS', KEYS[1] .. family .. pattern)) do
                        table.insert(sets, { set = set, family = family })
                    end
                end
                if #sets > 0 then
                    local any = sets[1 + ARGV[1] % #sets]
                    local lock_ids = any.family == 'readers:' and redis.call('ZRANGE', any.set, 0, -1)
                        or { string.match(redis.call('GET', any.set), '^.(%S+)') }
                    local key = string.sub(any.set, #KEYS[1] + #any.family + 1)
                    return { lock_ids[1 + ARGV[1] % #lock_ids], key, any.family }
                end
            end
            return {}
            """);

    /**
     * Ends a lease and answers whether it was live: a lapsed one may have the lock id of a caller who waits again. The
     * key of its id stays, as when an administrator breaks a lock.
     */
    private static final RedisScript<Long> END = RedisScript.of("""
            local time = redis.call('TIME')
            local lapsed = time[1] * 1000 + math.floor(time[2] / 1000) - 1000
            if ARGV[3] == 'lock:' then
                local start, ends, rest = string.match(redis.call('GET', KEYS[1]) or '', '^(.%S+ )(%d+)(.*)$')
                if not start or string.sub(start, 2, -2) ~= ARGV[1] or ends - 1000 <= lapsed then
                    return 0
                end
                if ARGV[2] == 'delete' then
                    redis.call('DEL', KEYS[1])
                else
                    ends = string.format('%.0f', lapsed + 1000)
                    redis.call('SET', KEYS[1], start .. ends .. rest, 'PXAT', ends)
                end
                return 1
            end
            local ends = redis.call('ZSCORE', KEYS[1], ARGV[1])
            if not ends or tonumber(ends) <= lapsed then
                return 0
            end
            if ARGV[2] == 'delete' then
                redis.call('ZREM', KEYS[1], ARGV[1])
            else
                redis.call('ZADD', KEYS[1], lapsed, ARGV[1])
            end
            return 1
            """, Long.class);

    /**
     * The part of the locks on this server.
     *
     * @param prefixes the prefixes of its keys
     * @param hasKey whether the server has the lock with this key
     * @param proxy the proxy between some processes and the server; {@code null} if there is none
     */
    record Part(
            List<String> prefixes,
            Predicate<String> hasKey,
            @Nullable RedisProxy proxy) {}

    private final OwnRedis server;
    private final StringRedisTemplate redis;
    private final Part part;
    private final HistoryRecorder recorder;
    private final Random random;

    /** A fault that stops, pauses or ends the server takes the write lock, so that no other fault sends requests. */
    private final ReadWriteLock running = new ReentrantReadWriteLock(true);

    /** Used only by the thread that disturbs the server. */
    private boolean restarts;

    RedisFaults(OwnRedis server, StringRedisTemplate redis, Part part, HistoryRecorder recorder, Random random) {
        this.server = server;
        this.redis = redis;
        this.part = part;
        this.recorder = recorder;
        this.random = random;
    }

    /** Injects a random fault that does not stop the server. */
    void any() {
        int what = random.nextInt(100);
        if (what < 4) {
            killConnection();
        } else if (what < 7 && part.proxy() != null) {
            loseReplies(part.proxy());
        } else if (what < 22) {
            endLease();
        } else if (what < 24) {
            alone(this::pauseWrites);
        }
    }

    /** Pauses the server, or kills and restarts it, in turn. */
    void ofTheServer() {
        restarts = !restarts;
        alone(restarts ? this::restart : this::stop);
    }

    private void alone(Runnable fault) {
        running.writeLock().lock();
        try {
            fault.run();
        } finally {
            running.writeLock().unlock();
        }
    }

    private void killConnection() {
        running.readLock().lock();
        try {
            List<RedisClientInfo> clients = redis
                    .<List<RedisClientInfo>>execute((RedisCallback<List<RedisClientInfo>>)
                            connection -> connection.serverCommands().getClientList())
                    .stream()
                    .filter(client -> VICTIMS.equals(client.getName()))
                    .toList();
            if (!clients.isEmpty()) {
                String[] address = clients.get(random.nextInt(clients.size()))
                        .getAddressPort()
                        .split(":");
                redis.killClient(address[0], Integer.parseInt(address[1]));
            }
        } catch (DataAccessException ex) {
            // The script has ended by itself.
        } finally {
            running.readLock().unlock();
        }
    }

    /** Loses the answers of requests that have arrived, and breaks the connections. */
    private void loseReplies(RedisProxy proxy) {
        proxy.fallSilent();
        pause(1, 20);
        proxy.speakAgain();
    }

    /** Ends a lease, as an administrator does if the holder is stuck. */
    private void endLease() {
        running.readLock().lock();
        try {
            String prefix = part.prefixes().get(random.nextInt(part.prefixes().size()));
            List<String> lease = redis.execute(ANY_LEASE, List.of(prefix), Integer.toString(random.nextInt(1_000_000)));
            if (lease.isEmpty()) {
                return;
            }
            HistoryEvent ended = recorder.begin(Kind.ENDED, CLIENT, lease.get(1), HistoryRecorder.hash(lease.get(0)));
            String set = prefix + lease.get(2) + lease.get(1);
            end(ended, set, lease.get(0), lease.get(2));
        } catch (DataAccessException ex) {
            // No lease was found, so none was ended.
        } finally {
            running.readLock().unlock();
        }
    }

    private void end(HistoryEvent ended, String key, String lockId, String family) {
        String how = random.nextBoolean() ? "delete" : "lapse";
        try {
            if (redis.execute(END, List.of(key), lockId, how, family) == 1) {
                recorder.write(ended.answered(System.nanoTime(), Outcome.OK));
            }
        } catch (DataAccessException ex) {
            recorder.write(ended.answered(System.nanoTime(), Outcome.UNKNOWN));
        }
    }

    /** Pauses writes, so that each acquire request waits. */
    private void pauseWrites() {
        server.pauseWrites();
        List<HistoryEvent> paused = Stream.generate(() -> StressClient.randomKey(random))
                .filter(part.hasKey())
                .limit(10)
                .distinct()
                .map(key -> recorder.begin(Kind.SERIALISED, CLIENT, key, ""))
                .toList();
        try {
            pause(20, 120);
            long now = redis.execute((RedisCallback<Long>)
                    connection -> connection.serverCommands().time());
            paused.forEach(event ->
                    recorder.write(event.answered(System.nanoTime(), Outcome.OK).with(new Lease(0, 0, now, 0, false))));
        } catch (DataAccessException ex) {
            // The end of the pause is unknown.
        } finally {
            server.goOn();
        }
    }

    /** Pauses the server. */
    void pauseServer() {
        alone(this::stop);
    }

    /** Stops the server for longer than some leases and for less than a network timeout. */
    private void stop() {
        HistoryEvent stopped = recorder.begin(Kind.STOPPED, CLIENT, "", "");
        Runnable resume = server.freeze();
        pause(20, 700);
        resume.run();
        recorder.write(stopped.answered(System.nanoTime(), Outcome.OK));
    }

    /** Kills and restarts the server. Pending requests get no answer. */
    private void restart() {
        HistoryEvent restarted = recorder.begin(Kind.RESTARTED, CLIENT, "", "");
        server.kill();
        pause(1, 300);
        server.start();
        Awaitility.await()
                .ignoreExceptions()
                .until(() -> redis.execute((RedisCallback<String>) connection -> connection.ping()) != null);
        recorder.write(restarted.answered(System.nanoTime(), Outcome.OK));
    }

    private void pause(int least, int most) {
        LockSupport.parkNanos((least + random.nextInt(most - least)) * MILLI);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static RedisScript<List<String>> script(String text) {
        return (RedisScript) RedisScript.of(text, List.class);
    }
}
