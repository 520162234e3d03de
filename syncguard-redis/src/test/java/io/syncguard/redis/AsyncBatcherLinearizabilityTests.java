package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.testing.ChildJvm;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Several threads send to a store that counts the requests of each key: some order of them explains their answers. */
@Tag("verification")
public class AsyncBatcherLinearizabilityTests {

    private static final String EXPLAINED = "explained";
    private static final int KEYS = 3;

    /** In a process of its own: Lincheck transforms all classes that a JVM has loaded, and cannot do so with some. */
    @Test
    void some_order_of_the_requests_explains_their_answers() {
        try (ChildJvm child = ChildJvm.start(AsyncBatcherLinearizabilityTests.class)) {
            assertThat(child.ask("check")).isEqualTo(EXPLAINED);
            assertThat(child.ask("batches of several")).isNotEqualTo("0");
            assertThat(child.ask("left unsent")).isNotEqualTo("0");
            assertThat(child.ask("left in doubt")).isNotEqualTo("0");
        }
    }

    public static void main(String[] arguments) throws IOException {
        ChildJvm.serve(question -> switch (question) {
            case "check" -> check();
            case "batches of several" -> CountingStore.batchesOfSeveral.toString();
            case "left unsent" -> Shared.leftUnsent.toString();
            default -> Shared.leftInDoubt.toString();
        });
    }

    private static String check() {
        try {
            new StressOptions()
                    .iterations(10)
                    .invocationsPerIteration(1000)
                    .threads(3)
                    .actorsPerThread(3)
                    .actorsBefore(1)
                    .actorsAfter(2)
                    .sequentialSpecification(Counters.class)
                    .check(Operations.class);
            return EXPLAINED;
        } catch (Throwable ex) {
            return ex.toString().replace('\n', '/');
        }
    }

    /** What the answers have to look like, however often a caller leaves before it stays. */
    public static class Counters {

        private final int[] counters = new int[KEYS];

        public int send(int key) {
            return ++counters[key];
        }

        public int sendAndLeaveFirst(int key) {
            return send(key);
        }
    }

    /** Public and with a public constructor: Lincheck makes one for each run. */
    @Param(name = "key", gen = IntGen.class, conf = "0:2")
    public static class Operations {

        /** Keys of this run. They share the batcher with those of other runs. */
        private final long run = Shared.runs.incrementAndGet();

        @Operation
        public int send(@Param(name = "key") int key) throws Exception {
            return asCaller(() -> answerOf(Shared.batcher.send(request(key))));
        }

        /** Leaves at once. Sends another request only if the store cannot have received this one. */
        @Operation
        public int sendAndLeaveFirst(@Param(name = "key") int key) throws Exception {
            return asCaller(() -> {
                Request request = request(key);
                BatchedReply<Request, Integer> reply = Shared.batcher.send(request);
                if (!reply.cancel(false)) {
                    return answerOf(reply);
                }
                if (reply.wasSent()) {
                    Shared.leftInDoubt.incrementAndGet();
                    return answerOf(request.executed);
                }
                Shared.leftUnsent.incrementAndGet();
                return answerOf(Shared.batcher.send(request(key)));
            });
        }

        /** A batch takes more requests if there are more callers. */
        private static int asCaller(Callable<Integer> call) throws Exception {
            Shared.batcher.enter();
            try {
                return call.call();
            } finally {
                Shared.batcher.leave();
            }
        }

        private Request request(int key) {
            return new Request(run + ":" + key, new CompletableFuture<>());
        }

        private static int answerOf(CompletableFuture<Integer> answer) throws Exception {
            return answer.get(20, TimeUnit.SECONDS);
        }
    }

    /**
     * One request.
     *
     * @param executed its answer, as the store knows it: also when nobody waits for it any more
     */
    private record Request(String key, CompletableFuture<Integer> executed) {}

    /** One batcher for all runs, because the store has threads. */
    private static final class Shared {

        static final AtomicInteger runs = new AtomicInteger();
        static final AtomicInteger leftUnsent = new AtomicInteger();
        static final AtomicInteger leftInDoubt = new AtomicInteger();
        static final AsyncBatcher<Request, Integer> batcher =
                new AsyncBatcher<>(new CountingStore(), new AsyncBatcher.Limits(0, 1, 2));
    }

    /** Executes a batch later, on threads of its own, and answers it on them. */
    private static final class CountingStore implements AsyncBatcher.Sender<Request, Integer> {

        static final AtomicInteger batchesOfSeveral = new AtomicInteger();

        private final ExecutorService threads = Executors.newFixedThreadPool(2);
        private final Map<String, Integer> counters = new ConcurrentHashMap<>();

        @Override
        public CompletableFuture<List<Integer>> send(List<Request> requests) {
            if (requests.size() > 1) {
                batchesOfSeveral.incrementAndGet();
            }
            CompletableFuture<List<Integer>> answers = new CompletableFuture<>();
            threads.execute(
                    () -> answers.complete(requests.stream().map(this::execute).toList()));
            return answers;
        }

        private Integer execute(Request request) {
            Integer answer = counters.merge(request.key(), 1, Integer::sum);
            request.executed().complete(answer);
            return answer;
        }
    }
}
