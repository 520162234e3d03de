package io.syncguard.verification.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * A waiter behind hundreds of others gets the key at once when all of them are interrupted.
 *
 * <p>{@code -Dsyncguard.stress.seconds} repeats it for that long.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ManyLeaversContract {

    private static final int LEAVERS = 400;
    private static final int FEW = 20;

    /** Half of the rounds may be slower, on a machine that is busy. */
    private static final Duration LIMIT = Duration.ofMillis(250);

    private static final int ROUNDS = 3;

    private final QueueServer server;
    private ManyLeavers leavers;

    /** @param server is closed after the last test */
    ManyLeaversContract(QueueServer server) {
        this.server = server;
    }

    @BeforeAll
    void start() throws Exception {
        leavers = new ManyLeavers(server);
        // Warms up the threads and the code.
        leavers.interruptAll(LEAVERS, 0);
    }

    @AfterAll
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
