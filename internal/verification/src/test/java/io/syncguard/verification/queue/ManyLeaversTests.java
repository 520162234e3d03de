package io.syncguard.verification.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A waiter behind hundreds of others gets the key at once when all of them are interrupted.
 *
 * <p>{@code -Dsyncguard.stress.seconds} repeats it for that long.
 */
@Tag("verification")
@ParameterizedClass
@EnumSource(QueueStore.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ManyLeaversTests {

    private static final int LEAVERS = 400;
    private static final int FEW = 20;

    /** Half of the rounds may be slower, on a machine that is busy. */
    private static final Duration LIMIT = Duration.ofMillis(250);

    private static final int ROUNDS = 3;

    @Parameter
    private QueueStore store;

    private QueueServer server;
    private ManyLeavers leavers;

    @BeforeParameterizedClassInvocation
    void start() throws Exception {
        server = store.start();
        leavers = new ManyLeavers(server);
        // Warms up the threads and the code.
        leavers.interruptAll(LEAVERS, 0);
    }

    @AfterParameterizedClassInvocation
    void end() {
        leavers.close();
        server.close();
    }

    @Test
    void the_one_behind_them_gets_the_key_at_once() throws Exception {
        assertMedian("on one key", LEAVERS, 0);
    }

    @Test
    void the_one_behind_a_few_of_them_gets_the_key_at_once_though_all_others_leave_other_keys() throws Exception {
        assertMedian("on other keys", FEW, LEAVERS - FEW);
    }

    private void assertMedian(String where, int ahead, int elsewhere) throws Exception {
        List<Duration> waits = new ArrayList<>();
        long end = System.nanoTime() + Integer.getInteger("syncguard.stress.seconds", 0) * 1_000_000_000L;
        while (waits.size() < ROUNDS || System.nanoTime() < end) {
            waits.add(leavers.interruptAll(ahead, elsewhere));
        }
        List<Duration> sorted = waits.stream().sorted().toList();
        System.out.println(LEAVERS + " leave " + where + ", and the next one waits for milliseconds: "
                + sorted.stream().map(Duration::toMillis).toList());
        assertThat(sorted.get(sorted.size() / 2)).isLessThan(LIMIT);
    }
}
