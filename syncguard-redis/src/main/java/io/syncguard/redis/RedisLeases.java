package io.syncguard.redis;

import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseRequest;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Ends and extends leases and renews queue entries, all by their lock ids: many of one shard in one script. */
final class RedisLeases {

    /** How many lock ids one script has at most. It takes about 5 ms, in which the server serves nobody else. */
    private static final int MOST_IDS = 250;

    private static final Function<RedisReply, List<ReleaseResult>> ONE_RELEASE =
            reply -> List.of(RedisReplyReader.readRelease(reply));

    /**
     * What is asked for the lock ids of a list.
     *
     * @param <I> the item for one lock id
     * @param <A> the answer to an item
     * @param writer gets the items, and their locks in the same order
     * @param notFound the answer for a lock id that nobody has
     */
    private record Kind<I, A>(
            Function<I, KeyedLockId> idOf,
            BiFunction<List<RedisLock>, List<I>, RedisRequest> writer,
            Function<RedisReply, List<A>> reader,
            A notFound) {}

    private final RedisScriptRunner scripts;
    private final RedisBatcher callers;
    private final RedisRequestWriter requests;
    private final RedisLocks locks;
    private final RedisLockIds lockIds;
    private final Duration waiterTtl;
    private final BooleanSupplier receivesHandOvers;

    /** @param receivesHandOvers whether this process has connected for wake-ups */
    RedisLeases(
            RedisScriptRunner scripts,
            RedisBatcher callers,
            RedisRequestWriter requests,
            RedisLocks locks,
            RedisLockIds lockIds,
            Duration waiterTtl,
            BooleanSupplier receivesHandOvers) {
        this.scripts = scripts;
        this.callers = callers;
        this.requests = requests;
        this.locks = locks;
        this.lockIds = lockIds;
        this.waiterTtl = waiterTtl;
        this.receivesHandOvers = receivesHandOvers;
    }

    CompletableFuture<List<ReleaseResult>> release(List<ReleaseRequest> asked) {
        ReleaseRequest first = asked.get(0);
        if (first.handsOver()) {
            return asked.size() == 1
                    ? handOver(first)
                    : release(asked, this::handOver, reply -> reply.each(RedisReplyReader::readReleaseInBatch));
        }
        Duration held = first.heldFor();
        return held == null
                ? release(asked, requests::releaseAll, reply -> reply.each(RedisReplyReader::readRelease))
                : release(asked, (found, ids) -> requests.releaseAfter(found.get(0), ids.get(0), held), ONE_RELEASE);
    }

    /** Waits for the answer, as a caller does. If the key is not known, another request asks for it first. */
    private CompletableFuture<List<ReleaseResult>> handOver(ReleaseRequest asked) {
        RedisLock lock = locks.of(asked.id());
        return lock == null
                ? release(List.of(asked), (found, ids) -> handOver(found.get(0), ids.get(0)), ONE_RELEASE)
                : CompletableFuture.completedFuture(
                        callers.run(handOver(lock, asked.id().lockId()), scripts.limit(), ONE_RELEASE));
    }

    private RedisRequest handOver(List<RedisLock> found, List<String> ids) {
        List<RedisRequest> each = IntStream.range(0, ids.size())
                .mapToObj(i -> handOver(found.get(i), ids.get(i)))
                .toList();
        return RedisRequest.batch("releasing " + each.size() + " lock(s)", each);
    }

    private RedisRequest handOver(RedisLock lock, String lockId) {
        return requests.release(lock, lockId, receivesHandOvers.getAsBoolean());
    }

    private CompletableFuture<List<ReleaseResult>> release(
            List<ReleaseRequest> asked,
            BiFunction<List<RedisLock>, List<String>, RedisRequest> writer,
            Function<RedisReply, List<ReleaseResult>> reader) {
        Kind<ReleaseRequest, ReleaseResult> kind = new Kind<>(
                ReleaseRequest::id,
                (found, each) -> writer.apply(
                        found, each.stream().map(item -> item.id().lockId()).toList()),
                reader,
                ReleaseResult.NOT_FOUND);
        return send(kind, asked, scripts.limit());
    }

    CompletableFuture<List<ExtendResult>> extend(List<ExtendRequest> asked) {
        boolean rotates = asked.get(0).kind() == ExtendRequest.Kind.NEXT_FENCE;
        Kind<ExtendRequest, ExtendResult> kind = new Kind<>(
                ExtendRequest::id,
                rotates ? (found, each) -> requests.rotate(found.get(0), each.get(0)) : requests::extendAll,
                rotates
                        ? reply -> List.of(RedisReplyReader.readRotation(reply))
                        : reply -> reply.each(RedisReplyReader::readExtension),
                new ExtendResult.NotFound());
        Duration shortest = asked.stream()
                .map(ExtendRequest::ttl)
                .min(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
        return send(kind, asked, scripts.limit(shortest));
    }

    CompletableFuture<List<Duration>> renew(List<KeyedLockId> entries) {
        Kind<KeyedLockId, Duration> kind = new Kind<>(
                id -> id,
                (found, ids) -> requests.renewAll(
                        found, ids.stream().map(KeyedLockId::lockId).toList()),
                reply -> reply.each(answer -> Duration.ofMillis(answer.number(0))),
                Duration.ZERO);
        return send(kind, entries, scripts.limit(waiterTtl));
    }

    /**
     * Sends several scripts at once if there are very many lock ids.
     *
     * @param limit in milliseconds
     * @return the answers in the order of the items, or a {@link io.syncguard.LockBackendException}
     */
    private <I, A> CompletableFuture<List<A>> send(Kind<I, A> kind, List<I> items, long limit) {
        if (items.size() <= MOST_IDS) {
            return sendOne(kind, items, limit);
        }
        List<CompletableFuture<List<A>>> parts = new ArrayList<>();
        for (int from = 0; from < items.size(); from += MOST_IDS) {
            parts.add(sendOne(kind, items.subList(from, Math.min(items.size(), from + MOST_IDS)), limit));
        }
        return CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new))
                .thenApply(any ->
                        parts.stream().flatMap(part -> part.join().stream()).toList());
    }

    private <I, A> CompletableFuture<List<A>> sendOne(Kind<I, A> kind, List<I> items, long limit) {
        return lockIds.locksOf(items.stream().map(kind.idOf()).toList(), limit)
                .thenCompose(found -> sendTo(found, kind, items, limit));
    }

    private <I, A> CompletableFuture<List<A>> sendTo(
            List<@Nullable RedisLock> locks, Kind<I, A> kind, List<I> items, long limit) {
        List<A> answers = new ArrayList<>(Collections.nCopies(items.size(), kind.notFound()));
        List<RedisLock> found = new ArrayList<>();
        List<Integer> indexes = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            RedisLock lock = locks.get(i);
            if (lock != null) {
                found.add(lock);
                indexes.add(i);
            }
        }
        if (found.isEmpty()) {
            return CompletableFuture.completedFuture(answers);
        }
        RedisRequest request =
                kind.writer().apply(found, indexes.stream().map(items::get).toList());
        return scripts.send(request, limit, reply -> {
            List<A> read = kind.reader().apply(reply);
            if (read.size() != found.size()) {
                throw new IllegalStateException(found.size() + " requests got " + read.size() + " answers");
            }
            for (int i = 0; i < read.size(); i++) {
                answers.set(indexes.get(i), read.get(i));
            }
            return answers;
        });
    }
}
