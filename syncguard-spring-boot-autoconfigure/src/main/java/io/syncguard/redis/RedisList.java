package io.syncguard.redis;

import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * Lists locks. No index has them: an index would make each grant slower. So it passes all keys of the server in steps
 * of milliseconds, between which the server does other work, and then asks for the locks of the page alone.
 */
final class RedisList {

    private static final RedisScript SCAN = RedisScript.named("scan");
    private static final RedisScript STATUS = RedisScript.named("status");

    /** How many locks are asked for at the same time. */
    private static final int CHUNK = 100;

    /** As PostgreSQL has it. */
    private static final Comparator<String> BY_BYTES =
            Comparator.comparing(key -> key.getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

    private final RedisScriptRunner scripts;
    private final RedisKeySpace keys;
    private final RedisShards shards;

    RedisList(RedisScriptRunner scripts, RedisKeySpace keys, RedisShards shards) {
        this.scripts = scripts;
        this.keys = keys;
        this.shards = shards;
    }

    LockPage list(LockQuery query) {
        List<String> candidates = new ArrayList<>(scan(query.prefix()).tailSet(query.after(), false));
        List<LockStatus> found = new ArrayList<>();
        // One more than asked for shows whether there is another page.
        for (int from = 0; from < candidates.size() && found.size() <= query.limit(); from += CHUNK) {
            found.addAll(statuses(candidates.subList(from, Math.min(from + CHUNK, candidates.size()))));
        }
        return LockPage.of(found, query.limit());
    }

    Optional<LockStatus> status(String key) {
        return statuses(List.of(key)).stream().findFirst();
    }

    private NavigableSet<String> scan(String prefix) {
        NavigableSet<String> found = new TreeSet<>(BY_BYTES);
        for (RedisShard shard : shards.all()) {
            String cursor = "0";
            do {
                cursor = scripts.run(
                        new RedisRequest("listing locks", SCAN, shard, List.of(cursor)),
                        reply -> readStep(reply, prefix, found));
            } while (!cursor.equals("0"));
        }
        return found;
    }

    private static String readStep(RedisReply reply, String prefix, NavigableSet<String> found) {
        for (int i = 1; i < reply.size(); i++) {
            String key = reply.text(i);
            if (key.startsWith(prefix)) {
                found.add(key);
            }
        }
        return reply.text(0);
    }

    /** Without those that nobody holds or waits for any more. */
    private List<LockStatus> statuses(List<String> locks) {
        List<RedisRequest> requests = locks.stream().map(this::statusOf).toList();
        List<Supplier<RedisReply>> replies = scripts.start(requests, scripts.limit());
        List<LockStatus> found = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            String key = locks.get(i);
            LockStatus status = RedisScriptRunner.read(
                    requests.get(i), replies.get(i).get(), reply -> RedisReplyReader.readStatus(reply, key));
            if (!status.holders().isEmpty() || status.waiters() > 0) {
                found.add(status);
            }
        }
        return found;
    }

    private RedisRequest statusOf(String key) {
        String name = keys.name(key);
        return new RedisRequest(
                "looking at the holders and waiters of lock '" + key + "'",
                STATUS,
                shards.ofName(name),
                List.of(name, Integer.toString(LockStatus.MAX_QUEUE)));
    }
}
