package io.syncguard.redis;

import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.WakeUpSubscriber;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sends acquire requests, and watches their fences. */
final class RedisAcquirer {

    private final RedisScriptRunner scripts;
    private final RedisBatcher callers;
    private final RedisRequestWriter requests;
    private final RedisFenceMonitor fences = new RedisFenceMonitor();
    private final Supplier<@Nullable WakeUpSubscriber> wakeUps;

    /**
     * @param wakeUps gives the subscriber for wake-ups of this process; {@code null} if no hand-overs can be received
     */
    RedisAcquirer(
            RedisScriptRunner scripts,
            RedisBatcher callers,
            RedisRequestWriter requests,
            Supplier<@Nullable WakeUpSubscriber> wakeUps) {
        this.scripts = scripts;
        this.callers = callers;
        this.requests = requests;
        this.wakeUps = wakeUps;
    }

    CompletableFuture<List<AcquireResult>> acquire(List<AcquireRequest> asked, GrantExtent extent) {
        return switch (extent) {
            case ONE -> one(asked.get(0));
            // The batcher collects requests of callers: the engine sends no such lists.
            case EACH ->
                CompletableFuture.completedFuture(Collections.nCopies(asked.size(), AcquireResult.Undecided.UNDECIDED));
            case ALL, IN_FRONT, NOTHING -> together(asked, extent);
        };
    }

    private CompletableFuture<List<AcquireResult>> one(AcquireRequest asked) {
        long lastFence = fences.lastFence(asked.key());
        AcquireResult answer = callers.run(
                requests.acquire(asked, wakeUps.get()),
                scripts.limit(asked.options().ttl()),
                reply -> watched(asked, reply, RedisReplyReader.readAcquire(reply, asked.key()), lastFence));
        return CompletableFuture.completedFuture(List.of(answer));
    }

    private CompletableFuture<List<AcquireResult>> together(List<AcquireRequest> asked, GrantExtent extent) {
        List<Long> lastFences =
                asked.stream().map(each -> fences.lastFence(each.key())).toList();
        long limit = asked.stream()
                .mapToLong(each -> scripts.limit(each.options().ttl()))
                .min()
                .orElseThrow();
        return scripts.send(requests.acquireTogether(asked, extent), limit, reply -> {
            List<AcquireResult> answers = RedisReplyReader.readTogether(reply, asked);
            for (int i = 0; i < answers.size(); i++) {
                if (answers.get(i) instanceof AcquireResult.Granted) {
                    watched(asked.get(i), reply.answer(i + 2), answers.get(i), lastFences.get(i));
                }
            }
            return answers;
        });
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

    /** Wake-ups are received from the first waiter on. */
    void somebodyWaits() {
        WakeUpSubscriber current = wakeUps.get();
        if (current != null) {
            current.start();
        }
    }
}
