package io.syncguard.redis;

import io.syncguard.LockOrder;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.LockSummary;
import io.syncguard.spi.Answers;
import io.syncguard.spi.LockCount;
import io.syncguard.spi.LockSelection;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Predicate;

/**
 * Lists locks. There is no index of them, which would make each grant slower. So a {@link RedisKeyScan} scans all keys
 * of the server, and this class then reads only the locks of the page. Thread-safe.
 */
final class RedisList {

    private static final RedisScript STATUS = RedisScript.named("status");

    /** Number of locks that are read at the same time. */
    private static final int CHUNK = 100;

    private final RedisScriptRunner scripts;
    private final RedisRequestWriter requests;
    private final RedisLocks locks;
    private final RedisPace pace;
    private final RedisKeyScan scan;

    RedisList(
            RedisScriptRunner scripts,
            RedisRequestWriter requests,
            RedisLocks locks,
            RedisShards shards,
            RedisPace pace) {
        this.scripts = scripts;
        this.requests = requests;
        this.locks = locks;
        this.pace = pace;
        this.scan = new RedisKeyScan(new RedisNameScan(scripts, shards, pace), this::keysOf, pace);
    }

    LockPage list(LockQuery query) {
        LockSelection page = new LockSelection(query);
        inChunks(scan.keys(query), chunk -> {
            statuses(chunk.stream().map(locks::of).toList(), LockSelection.entries(query))
                    .forEach(page::offer);
            return query.order() != LockOrder.KEY || !page.isFull();
        });
        return page.page();
    }

    /** Reads each lock. */
    LockSummary summary() {
        LockCount count = new LockCount();
        inChunks(scan.keys(), chunk -> {
            statuses(chunk.stream().map(locks::of).toList(), LockStatus.MAX_QUEUE)
                    .forEach(count::add);
            return true;
        });
        return count.summary();
    }

    Optional<LockStatus> status(String key) {
        return statuses(List.of(locks.of(key)), LockStatus.MAX_QUEUE).stream().findFirst();
    }

    /** Finds the keys of locks whose names are known. If a name may be a hash, a lease or queue entry tells the key. */
    private Collection<String> keysOf(Set<RedisLock> named) {
        List<String> found = new ArrayList<>();
        List<RedisLock> hashes = new ArrayList<>();
        for (RedisLock lock : named) {
            if (locks.mayBeHash(lock.name())) {
                hashes.add(lock);
            } else {
                found.add(lock.key());
            }
        }
        inChunks(hashes, chunk -> {
            ask(chunk, 1, (lock, reply) -> RedisReplyReader.readKey(reply, lock.name()))
                    .forEach(key -> key.ifPresent(found::add));
            return true;
        });
        return found;
    }

    /** Leaves out locks that nobody holds or waits for any more. */
    private List<LockStatus> statuses(List<RedisLock> asked, int entries) {
        return ask(asked, entries, (lock, reply) -> RedisReplyReader.readStatus(reply, lock.key())).stream()
                .filter(status -> !status.holders().isEmpty() || status.waiters() > 0)
                .toList();
    }

    private <T> List<T> ask(List<RedisLock> asked, int entries, BiFunction<RedisLock, RedisReply, T> reader) {
        List<RedisRequest> questions =
                asked.stream().map(lock -> statusOf(lock, entries)).toList();
        List<CompletableFuture<RedisReply>> replies = scripts.sendAll(questions, scripts.limit());
        List<T> found = new ArrayList<>();
        for (int i = 0; i < questions.size(); i++) {
            RedisLock lock = asked.get(i);
            CompletableFuture<RedisReply> answer = replies.get(i);
            found.add(RedisScriptRunner.read(
                    questions.get(i), Answers.await(() -> answer), reply -> reader.apply(lock, reply)));
        }
        return found;
    }

    private RedisRequest statusOf(RedisLock lock, int entries) {
        return requests.ofLock(
                "looking at the holders and waiters of lock '" + lock.key() + "'",
                STATUS,
                lock,
                Integer.toString(entries));
    }

    /** @param step answers whether to go on */
    private <T> void inChunks(List<T> all, Predicate<List<T>> step) {
        boolean goOn = true;
        for (int from = 0; goOn && from < all.size(); from += CHUNK) {
            long sent = pace.now();
            goOn = step.test(all.subList(from, Math.min(from + CHUNK, all.size())));
            pace.rest(RedisKeyScan.DOING, pace.now() - sent);
        }
    }
}
