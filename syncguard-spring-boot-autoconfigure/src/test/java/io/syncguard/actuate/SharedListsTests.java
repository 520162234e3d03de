package io.syncguard.actuate;

import static io.syncguard.core.EngineFixture.got;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.core.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many readers, and lists that take long. */
@Timeout(60)
class SharedListsTests {

    private final ManualTime time = new ManualTime();
    private final SharedLists<String> lists = new SharedLists<>(Duration.ofSeconds(30), time);
    private final SharedLists<String> impatient = new SharedLists<>(Duration.ZERO, time);
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger mostRunning = new AtomicInteger();
    private final CountDownLatch goOn = new CountDownLatch(1);

    @AfterEach
    void close() {
        goOn.countDown();
        lists.close();
        impatient.close();
    }

    @Test
    void readers_who_ask_the_same_share_one_list() throws Exception {
        List<FutureTask<ListedLocks>> readers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            readers.add(inAnotherThread(() -> ask(lists, "all", slow())));
        }
        await().until(() -> begun.get() == 1);
        goOn.countDown();

        for (FutureTask<ListedLocks> reader : readers) {
            assertThat(got(reader).isComplete()).isTrue();
        }
        assertThat(mostRunning).hasValue(1);
    }

    @Test
    void one_list_runs_at_a_time() throws Exception {
        List<FutureTask<ListedLocks>> readers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            String question = "question " + i;
            readers.add(inAnotherThread(() -> ask(lists, question, slow())));
        }
        await().until(() -> begun.get() == 1);
        goOn.countDown();

        for (FutureTask<ListedLocks> reader : readers) {
            got(reader);
        }
        assertThat(begun).hasValue(5);
        assertThat(mostRunning).hasValue(1);
    }

    @Test
    void a_reader_without_patience_gets_the_answer_before_and_the_list_goes_on() {
        assertThat(ask(impatient, "all", slow()).readAt()).isNull();
        assertThat(ask(impatient, "all", this::answer).problem()).isEqualTo("The store has not answered within 0 ms");
        goOn.countDown();

        await().until(() -> ask(impatient, "all", slow()).next() != null);
    }

    @Test
    void an_answer_that_took_long_is_given_again_for_four_times_as_long() {
        Supplier<ListedLocks> expensive = () -> {
            time.advance(Duration.ofSeconds(3));
            return answer();
        };
        assertThat(ask(lists, "all", expensive).next()).isEqualTo("1");

        time.advance(Duration.ofMillis(11_999));
        assertThat(ask(lists, "all", expensive).next()).isEqualTo("1");
        time.advance(Duration.ofMillis(1));
        assertThat(ask(lists, "all", expensive).next()).isEqualTo("2");

        lists.forgetAll();
        assertThat(ask(lists, "all", expensive).next()).isEqualTo("3");
    }

    @Test
    void an_answer_that_took_no_time_is_not_given_again() {
        assertThat(ask(lists, "all", this::answer).next()).isEqualTo("1");
        assertThat(ask(lists, "all", this::answer).next()).isEqualTo("2");
    }

    @Test
    void few_lists_wait() {
        ask(impatient, "running", slow());
        await().until(() -> begun.get() == 1);
        for (int i = 0; i < SharedLists.MAX_QUEUED + 5; i++) {
            assertThat(ask(impatient, "waiting " + i, slow()).isComplete()).isFalse();
        }
        goOn.countDown();

        await().until(() -> begun.get() == 1 + SharedLists.MAX_QUEUED && running.get() == 0);
    }

    @Test
    void a_failure_comes_with_the_answer_before_and_is_not_remembered() {
        ask(lists, "all", this::answer);
        time.advance(Duration.ofSeconds(9));

        ListedLocks old = ask(lists, "all", () -> {
            throw new LockException(LockErrorCode.SERVICE_UNAVAILABLE, "away", null);
        });

        assertThat(old.next()).isEqualTo("1");
        assertThat(old.problem()).isEqualTo("away");
        assertThat(time.nanoTime() - Objects.requireNonNull(old.readAt()))
                .isEqualTo(Duration.ofSeconds(9).toNanos());
        assertThat(ask(lists, "all", this::answer).isComplete()).isTrue();
    }

    private static ListedLocks ask(SharedLists<String> lists, String question, Supplier<ListedLocks> list) {
        return lists.begin(question, list).get();
    }

    private Supplier<ListedLocks> slow() {
        return () -> {
            ListedLocks answer = answer();
            mostRunning.accumulateAndGet(running.incrementAndGet(), Math::max);
            try {
                goOn.await();
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
            running.decrementAndGet();
            return answer;
        };
    }

    /** Numbered by its end of a page. */
    private ListedLocks answer() {
        return new ListedLocks(List.of(), String.valueOf(begun.incrementAndGet()), null);
    }
}
