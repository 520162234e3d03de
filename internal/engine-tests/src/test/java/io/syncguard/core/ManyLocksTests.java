package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.InterceptedBackend.failing;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockErrorCode;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** More locks than one statement takes, and servers that answer slowly: who goes first, and who waits for whom. */
class ManyLocksTests {

    private static final Duration PATIENCE = Duration.ofMillis(20);

    /** When it is due, 400 ms are left: its statements have up to 400 leases. */
    private static final LockRequest SHORT = LockRequest.of("k").ttl(Duration.ofMillis(600));

    private static final int FOUR_STATEMENTS = 1_500;

    private final EngineFixture fixture = new EngineFixture();
    private final CountDownLatch answer = new CountDownLatch(1);

    /** How many releases the statement that is sent now has. */
    private final AtomicInteger together = new AtomicInteger();

    @AfterEach
    void close() {
        answer.countDown();
        fixture.close();
    }

    @Test
    void the_locks_that_end_first_are_extended_first() {
        acquire(1_000, LockRequest.of("long").ttl(Duration.ofSeconds(30)));
        fixture.time.advance(Duration.ofMillis(9_900));
        List<LockHandle> urgent = acquire(50, LockRequest.of("short").ttl(Duration.ofMillis(300)));
        List<List<String>> statements = new CopyOnWriteArrayList<>();
        fixture.backend.onExtensions = extensions -> statements.add(
                extensions.stream().map(each -> each.id().lockId()).toList());

        fixture.time.advance(Duration.ofMillis(100));

        eventually().until(() -> count("extended") == 1_050);
        assertThat(statements.get(0)).containsAll(idsOf(urgent));
    }

    @Test
    void a_slow_server_has_three_statements_under_way_and_no_lock_is_in_two_of_them() {
        acquire(FOUR_STATEMENTS, SHORT);
        List<String> sent = new CopyOnWriteArrayList<>();
        fixture.backend.onExtensions = extensions ->
                extensions.forEach(extension -> sent.add(extension.id().lockId()));
        fixture.backend.beforeExtend = this::standStill;

        fixture.time.advance(SHORT.ttl().dividedBy(3));
        for (int underWay = 1; underWay <= DueRequests.LANES; underWay++) {
            int statements = underWay;
            eventually().until(() -> fixture.backend.extendStatements.get() == statements);
            fixture.settle();
            fixture.time.advance(PATIENCE);
        }
        fixture.settle();

        assertThat(fixture.backend.extendStatements).hasValue(DueRequests.LANES);
        assertThat(sent).hasSizeLessThan(FOUR_STATEMENTS).doesNotHaveDuplicates();
        answer.countDown();
        eventually().until(() -> count("extended") == FOUR_STATEMENTS);
        assertThat(sent).hasSize(FOUR_STATEMENTS).doesNotHaveDuplicates();
    }

    @Test
    void a_fast_server_gets_one_statement_after_the_other() {
        acquire(FOUR_STATEMENTS, SHORT);
        AtomicInteger underWay = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        fixture.backend.beforeExtend = () -> most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
        fixture.backend.afterExtend = underWay::decrementAndGet;

        fixture.time.advance(SHORT.ttl().dividedBy(3));

        eventually().until(() -> count("extended") == FOUR_STATEMENTS);
        assertThat(most).hasValue(1);
    }

    @Test
    void a_statement_without_an_answer_does_not_delay_the_locks_that_are_due_after_it() {
        acquire(1, LockRequest.of("long").ttl(Duration.ofMinutes(5)));
        fixture.backend.beforeExtend = this::standStill;
        fixture.time.advance(Duration.ofSeconds(100));
        eventually().until(() -> fixture.backend.extendStatements.get() == 1);
        fixture.backend.beforeExtend = () -> {};
        List<LockHandle> shorter = acquire(1, LockRequest.of("short").ttl(Duration.ofSeconds(1)));

        fixture.advanceSlowly(Duration.ofSeconds(5), Duration.ofMillis(100));

        assertThat(shorter).allMatch(LockHandle::isHeld);
    }

    @Test
    void a_failed_extension_is_repeated_after_a_pause_although_others_are_answered_meanwhile() {
        acquire(1, LockRequest.of("k"));
        fixture.backend.beforeExtend = failing(LockErrorCode.NETWORK_TIMEOUT);
        fixture.time.advance(Duration.ofSeconds(10));
        eventually().until(() -> count("failed EXTEND NETWORK_TIMEOUT") == 1);

        acquire(1, LockRequest.of("other").ttl(Duration.ofSeconds(1)));
        fixture.time.advance(Duration.ofMillis(400));
        eventually().until(() -> fixture.backend.extendStatements.get() == 2);
        fixture.settle();

        assertThat(count("failed EXTEND NETWORK_TIMEOUT")).isEqualTo(2);
    }

    /** Each of these releases is a statement of its own, and none is needed before that time is over. */
    @Test
    void releases_of_locks_that_are_held_at_least_for_a_time_wait_for_the_others() {
        List<LockHandle> early = acquire(3, LockRequest.of("early").holdAtLeast(Duration.ofSeconds(20)));
        List<LockHandle> others = acquire(4, LockRequest.of("other"));
        List<Integer> sent = new CopyOnWriteArrayList<>();
        fixture.backend.onReleases = ids -> together.set(ids.size());
        fixture.backend.beforeRelease = () -> {
            if (!Thread.currentThread().getName().startsWith("syncguard-release")) {
                throw InterceptedBackend.failure(LockErrorCode.NETWORK_TIMEOUT);
            }
            sent.add(together.getAndSet(0));
            standStill();
        };
        others.get(0).release();
        eventually().until(() -> sent.size() == 1);

        early.forEach(LockHandle::release);
        others.subList(1, 4).forEach(LockHandle::release);
        answer.countDown();

        eventually().until(() -> sent.size() == 5);
        assertThat(sent.subList(0, 2)).containsExactly(1, 3);
        assertThat(sent.subList(2, 5)).as("alone").containsExactly(0, 0, 0);
    }

    private List<LockHandle> acquire(int number, LockRequest request) {
        List<LockHandle> handles = new ArrayList<>();
        IntStream.range(0, number)
                .mapToObj(i -> fixture.engine.acquire(request.key(request.key() + i)))
                .forEach(handles::add);
        return handles;
    }

    private static List<String> idsOf(List<LockHandle> handles) {
        return handles.stream().map(LockHandle::lockId).toList();
    }

    private long count(String event) {
        return fixture.events.stream().filter(event::equals).count();
    }

    private void standStill() {
        HeartbeatTests.awaitQuietly(answer);
    }
}
