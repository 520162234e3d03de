package io.syncguard.redis;

import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Lists locks. No index has them: an index would make each grant slower. So a {@link RedisKeyScan} passes all keys of
 * the server, and then the locks of the page alone are asked for. Thread-safe.
 */
final class RedisList {

    private static final RedisScript STATUS = RedisScript.named("status");

    /** How many locks are asked for at the same time. */
    private static final int CHUNK = 100;

    private final RedisScriptRunner scripts;
    private final RedisRequests requests;
    private final RedisLocks locks;
    private final RedisPace pace;
    private final RedisKeyScan scan;

    RedisList(RedisScriptRunner scripts, RedisRequests requests, RedisLocks locks, RedisShards shards, RedisPace pace) {
        this.scripts = scripts;
        this.requests = requests;
        this.locks = locks;
        this.pace = pace;
        this.scan = new RedisKeyScan(scripts, shards, pace);
    }

    LockPage list(LockQuery query) {
        List<String> candidates = scan.keys(query);
        List<LockStatus> found = new ArrayList<>();
        // One more than asked for shows whether there is another page.
        for (int from = 0; from < candidates.size() && found.size() <= query.limit(); from += CHUNK) {
            long sent = pace.now();
            found.addAll(statuses(candidates.subList(from, Math.min(from + CHUNK, candidates.size()))));
            pace.rest(RedisKeyScan.DOING, sent);
        }
        return LockPage.of(found, query.limit());
    }

    Optional<LockStatus> status(String key) {
        return statuses(List.of(key)).stream().findFirst();
    }

    /** Without those that nobody holds or waits for any more. */
    private List<LockStatus> statuses(List<String> asked) {
        List<RedisRequest> questions = asked.stream().map(this::statusOf).toList();
        List<Supplier<RedisReply>> replies = scripts.start(questions, scripts.limit());
        List<LockStatus> found = new ArrayList<>();
        for (int i = 0; i < questions.size(); i++) {
            String key = asked.get(i);
            LockStatus status = RedisScriptRunner.read(
                    questions.get(i), replies.get(i).get(), reply -> RedisReplyReader.readStatus(reply, key));
            if (!status.holders().isEmpty() || status.waiters() > 0) {
                found.add(status);
            }
        }
        return found;
    }

    private RedisRequest statusOf(String key) {
        return requests.ofLock(
                "looking at the holders and waiters of lock '" + key + "'",
                STATUS,
                locks.of(key),
                Integer.toString(LockStatus.MAX_QUEUE));
    }
}
