package io.syncguard.verification.recording;

import io.syncguard.redis.RedisSettings;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.LeaseHistory;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/** The stored locks in Redis, under the usual prefix. No lock key of the stress is long enough to be hashed. */
public final class RedisStressStore implements StressStore {

    /** The scheme of a cluster's URL. Its locks are in four shards. */
    public static final String CLUSTER_SCHEME = "redis-cluster://";

    public static final List<String> ONE_SHARD = List.of(RedisSettings.KEY_PREFIX);

    /** The prefixes of four shards, from docs/internals/redis.md. The CRC-32 of a key determines its shard. */
    public static final List<String> FOUR_SHARDS =
            List.of("{syncguard#33}:", "{syncguard#32}:", "{syncguard#31}:", "{syncguard#30}:");

    /** Random lock ids of leases and queue entries. */
    private static final RedisScript<List<String>> ANY_LOCK = script("""
            local ids = redis.call('KEYS', KEYS[1] .. 'id:*')
            local id = ids[1 + ARGV[1] % 30]
            local name = id and redis.call('GET', id)
            return name and { name, string.sub(id, #KEYS[1] + #'id:' + 1) } or {}
            """);

    /** The live leases. Parts of a shared lease may be missing. */
    private static final RedisScript<List<String>> LIVE_LEASES = script("""
            local time = redis.call('TIME')
            local over = time[1] * 1000 + math.floor(time[2] / 1000) - 1000
            local answers = {}
            local function add(name, lock_id, start, expires_at, fence, mode)
                for _, each in ipairs({ name, lock_id, start or '0', expires_at, fence or '0', mode }) do
                    table.insert(answers, each)
                end
            end
            for _, lock in ipairs(redis.call('KEYS', KEYS[1] .. 'lock:*')) do
                local lock_id, ends, start, fence =
                    string.match(redis.call('GET', lock), '^[-+](%S+) (%d+) (%d+) (%d+) ')
                if ends - 1000 > over then
                    add(string.sub(lock, #KEYS[1] + #'lock:' + 1), lock_id, start,
                        string.format('%.0f', ends - 1000), fence, '')
                end
            end
            for _, set in ipairs(redis.call('KEYS', KEYS[1] .. 'readers:*')) do
                local name = string.sub(set, #KEYS[1] + #'readers:' + 1)
                local live = redis.call('ZRANGEBYSCORE', set, string.format('(%.0f', over), '+inf', 'WITHSCORES')
                for i = 1, #live, 2 do
                    local lease = redis.call('HGET', KEYS[1] .. 'shared:' .. name, live[i]) or ''
                    local start, fence = string.match(lease, '^(%d+) (%d+) ')
                    add(name, live[i], start, live[i + 1], fence, 'shared')
                end
            end
            return answers
            """);

    private static final RedisScript<List<String>> COUNTERS = script("""
            local answers = {}
            for _, counter in ipairs(redis.call('KEYS', KEYS[1] .. 'fence:*')) do
                table.insert(answers, string.sub(counter, #KEYS[1] + #'fence:' + 1))
                table.insert(answers, redis.call('GET', counter))
            end
            return answers
            """);

    /** Counts keys without an expiry or with too late a one. Only the counters and the number of
     * shards have none. */
    private static final RedisScript<Long> WITHOUT_END = RedisScript.of("""
            local count = 0
            for _, key in ipairs(redis.call('KEYS', KEYS[1] .. '*')) do
                local family = string.match(string.sub(key, #KEYS[1] + 1), '^[^:]+')
                local left = redis.call('PTTL', key)
                local is_lease = family == 'lock' or family == 'readers' or family == 'shared'
                local longest = is_lease and ARGV[1] or math.max(ARGV[1], 2 * ARGV[2] + 1000)
                if family ~= 'fence' and family ~= 'layout' and (left == -1 or left > tonumber(longest)) then
                    count = count + 1
                end
            end
            return count
            """, Long.class);

    private final StringRedisTemplate redis;
    private final List<String> prefixes;

    public RedisStressStore(StringRedisTemplate redis, List<String> prefixes) {
        this.redis = redis;
        this.prefixes = prefixes;
    }

    @Override
    public Optional<Known> anyLock(Random random) {
        String prefix = prefixes.get(random.nextInt(prefixes.size()));
        List<String> found = redis.execute(ANY_LOCK, List.of(prefix), Integer.toString(random.nextInt(30)));
        return found.isEmpty() ? Optional.empty() : Optional.of(new Known(found.get(0), found.get(1)));
    }

    @Override
    public List<Live> liveLeases() {
        return prefixes.stream()
                .flatMap(prefix -> inRows(redis.execute(LIVE_LEASES, List.of(prefix)), 6).stream())
                .map(row -> new Live(
                        new Known(row.get(0), row.get(1)),
                        new Lease(
                                Long.parseLong(row.get(4)),
                                0,
                                Long.parseLong(row.get(2)),
                                Long.parseLong(row.get(3)),
                                row.get(5).equals("shared"))))
                .toList();
    }

    @Override
    public Map<String, Long> counters() {
        Map<String, Long> counters = new HashMap<>();
        prefixes.forEach(prefix -> inRows(redis.execute(COUNTERS, List.of(prefix)), 2)
                .forEach(row -> counters.put(row.get(0), Long.valueOf(row.get(1)))));
        return counters;
    }

    /** The number of keys, without the fence counters and the layout. */
    @Override
    public long entries() {
        return prefixes.stream()
                .flatMap(prefix -> redis.keys(prefix + "*").stream().map(key -> key.substring(prefix.length())))
                .filter(key -> !key.startsWith("fence:") && !key.equals("layout"))
                .count();
    }

    @Override
    public long withoutEnd() {
        return prefixes.stream().mapToLong(this::withoutEnd).sum();
    }

    private long withoutEnd(String prefix) {
        return redis.execute(
                WITHOUT_END,
                List.of(prefix),
                Long.toString(LONGEST_TTL_MILLIS + LeaseHistory.TOLERANCE_MILLIS),
                Long.toString(RedisSettings.WAITER_TTL.toMillis()));
    }

    /** Splits the flat answer of a script into rows. */
    private static List<List<String>> inRows(List<String> answer, int columns) {
        return IntStream.range(0, answer.size() / columns)
                .mapToObj(row -> answer.subList(row * columns, (row + 1) * columns))
                .toList();
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static RedisScript<List<String>> script(String text) {
        return (RedisScript) RedisScript.of(text, List.class);
    }
}
