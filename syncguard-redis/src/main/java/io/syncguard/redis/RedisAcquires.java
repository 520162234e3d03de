package io.syncguard.redis;

import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.WakeUpSubscriber;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Sends acquire requests, and watches their fences. */
final class RedisAcquires {

    private final RedisScriptRunner scripts;
    private final RedisCallerRequests callers;
    private final RedisAcquireRequests requests;
    private final RedisFenceMonitor fences = new RedisFenceMonitor();
    private final String channel;
    private final Supplier<@Nullable WakeUpSubscriber> wakeUps;

    /**
     * @param channel for the wake-ups of this process
     * @param wakeUps gives the subscriber for wake-ups of this process; {@code null} if no hand-overs can be received
     */
    RedisAcquires(
            RedisScriptRunner scripts,
            RedisCallerRequests callers,
            RedisAcquireRequests requests,
            String channel,
            Supplier<@Nullable WakeUpSubscriber> wakeUps) {
        this.scripts = scripts;
        this.callers = callers;
        this.requests = requests;
        this.channel = channel;
        this.wakeUps = wakeUps;
    }

    CompletableFuture<List<AcquireResult>> acquire(List<AcquireRequest> asked, GrantExtent extent) {
        return switch (extent) {
            case ONE -> one(asked.get(0));
            case EACH ->
                scripts.send(
                        RedisRequest.batch("acquiring " + asked.size() + " lock(s)", requestsOf(asked)),
                        limit(asked, extent),
                        reader(asked, RedisReply::answer, RedisAcquires::readBatch));
            case ALL, IN_FRONT, NOTHING ->
                scripts.send(
                        requests.together(asked, extent),
                        limit(asked, extent),
                        reader(asked, (reply, i) -> reply.answer(i + 2), RedisReplyReader::readTogether));
        };
    }

    private CompletableFuture<List<AcquireResult>> one(AcquireRequest asked) {
        long lastFence = fences.lastFence(asked.key());
        AcquireResult answer = callers.run(
                requests.of(asked, channel, wakeUps.get()),
                scripts.limit(asked.options().ttl()),
                reply -> watched(asked, reply, RedisReplyReader.readAcquire(reply, asked.key()), lastFence));
        return CompletableFuture.completedFuture(List.of(answer));
    }

    private List<RedisRequest> requestsOf(List<AcquireRequest> asked) {
        return asked.stream()
                .map(request -> requests.of(request, channel, wakeUps.get()))
                .toList();
    }

    private static List<AcquireResult> readBatch(RedisReply reply, List<AcquireRequest> asked) {
        return reply.answers(
                asked.size(),
                i -> RedisReplyReader.inBatch(
                        reply.answer(i),
                        answer -> RedisReplyReader.readAcquire(
                                answer, asked.get(i).key()),
                        AcquireResult.Undecided.UNDECIDED));
    }

    /** @param grant the part of the reply with the grant of the request at this position */
    private Function<RedisReply, List<AcquireResult>> reader(
            List<AcquireRequest> asked,
            BiFunction<RedisReply, Integer, RedisReply> grant,
            BiFunction<RedisReply, List<AcquireRequest>, List<AcquireResult>> reader) {
        List<Long> lastFences =
                asked.stream().map(each -> fences.lastFence(each.key())).toList();
        return reply -> {
            List<AcquireResult> answers = reader.apply(reply, asked);
            for (int i = 0; i < answers.size(); i++) {
                if (answers.get(i) instanceof AcquireResult.Granted || answers.get(i) instanceof AcquireResult.Queued) {
                    watched(asked.get(i), grant.apply(reply, i), answers.get(i), lastFences.get(i));
                }
            }
            return answers;
        };
    }

    /** @param reply the part of the reply with this answer */
    private AcquireResult watched(AcquireRequest asked, RedisReply reply, AcquireResult answer, long lastFence) {
        if (answer instanceof AcquireResult.Granted granted && !RedisReplyReader.isGrantedAgain(reply)) {
            fences.granted(asked.key(), granted.fence(), lastFence);
        } else if (answer instanceof AcquireResult.Queued) {
            somebodyWaits();
        }
        return answer;
    }

    private void somebodyWaits() {
        WakeUpSubscriber current = wakeUps.get();
        if (current != null) {
            current.start();
        }
    }

    /** Callers of a shared list have limits of their own, so the longest one is the limit of the list. */
    private long limit(List<AcquireRequest> asked, GrantExtent extent) {
        LongStream limits = asked.stream()
                .mapToLong(request -> scripts.limit(request.options().ttl()));
        return (extent == GrantExtent.EACH ? limits.max() : limits.min()).orElseThrow();
    }
}
