package io.syncguard.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.concurrent.Time;
import io.syncguard.testing.ChildJvm;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Several threads send to a store that counts the requests of each key: some order of them explains their answers. */
@Tag("verification")
public class BatcherLinearizabilityTests {

    private static final String EXPLAINED = "explained";
    private static final int KEYS = 3;

    /** In a process of its own: Lincheck transforms all classes that a JVM has loaded, and cannot do so with some. */
    @Test
    void some_order_of_the_requests_explains_their_answers() {
        try (ChildJvm child = ChildJvm.start(BatcherLinearizabilityTests.class)) {
            assertThat(child.ask("check")).isEqualTo(EXPLAINED);
            assertThat(child.ask("batches")).isNotEqualTo("0");
            assertThat(child.ask("alone")).isNotEqualTo("0");
        }
    }

    public static void main(String[] arguments) throws IOException {
        ChildJvm.serve(question -> switch (question) {
            case "check" -> check();
            case "batches" -> CountingStore.batches.toString();
            default -> CountingStore.alone.toString();
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

    /** What the answers have to look like. */
    public static class Counters {

        private final int[] counters = new int[KEYS];

        public int send(int key) {
            return ++counters[key];
        }
    }

    /** Public and with a public constructor: Lincheck makes one for each run. */
    @Param(name = "key", gen = IntGen.class, conf = "0:2")
    public static class Operations {

        /** Keys of this run. They share the batcher with those of other runs. */
        private final long run = Shared.runs.incrementAndGet();

        @Operation
        public int send(@Param(name = "key") int key) {
            return Shared.batcher.send(run + ":" + key);
        }
    }

    /** One batcher for all runs, because each has threads. */
    private static final class Shared {

        static final AtomicInteger runs = new AtomicInteger();
        static final Batcher<String, Integer> batcher = new Batcher<>(
                "lincheck", new CountingStore(), new Batcher.Limits(1, 2, Duration.ofMinutes(1), false), Time.SYSTEM);
    }

    /** Counts without any protection of its own: requests of a key have turns. */
    private static final class CountingStore implements BatchSender<String, Integer> {

        static final AtomicInteger batches = new AtomicInteger();
        static final AtomicInteger alone = new AtomicInteger();

        private final Map<String, Integer> counters = new ConcurrentHashMap<>();

        @Override
        public Object keyOf(String request) {
            return request;
        }

        @Override
        public Object groupOf(String request) {
            return "any";
        }

        @Override
        public Integer sendAlone(String request) {
            alone.incrementAndGet();
            return count(request);
        }

        /** Skips each third time. */
        @Override
        public List<@Nullable Integer> sendTogether(List<String> requests) {
            boolean skips = batches.incrementAndGet() % 3 == 0;
            List<@Nullable Integer> answers = new ArrayList<>();
            requests.forEach(request -> answers.add(skips ? null : count(request)));
            return answers;
        }

        private Integer count(String request) {
            int before = counters.getOrDefault(request, 0);
            Thread.yield();
            counters.put(request, before + 1);
            return before + 1;
        }

        @Override
        public RuntimeException failureOf(String request, RuntimeException batch) {
            return batch;
        }

        @Override
        public RuntimeException interrupted(String request, boolean sent) {
            return new IllegalStateException("interrupted");
        }

        @Override
        public RuntimeException timedOut(String request, boolean sent) {
            return new IllegalStateException("timed out");
        }
    }
}
