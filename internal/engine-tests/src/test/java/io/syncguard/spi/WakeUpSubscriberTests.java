package io.syncguard.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.core.ManualTime;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.ScarceThreads;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** One way to stay subscribed, for every store. */
class WakeUpSubscriberTests {

    private static final String OPEN = "open";
    private static final String SILENT = "silent";
    private static final String LISTENED = "listened";
    private static final String FAIL = "fail";
    private static final String NO_THREADS = "no threads";

    private final ManualTime time = new ManualTime();
    private final RecordingWakeUpListener received = new RecordingWakeUpListener();
    private final Scripted store = new Scripted();
    private final CapturedLog log = new CapturedLog();
    private final ScarceThreads threads = new ScarceThreads();
    private final WakeUpSubscriber subscriber =
            new WakeUpSubscriber("the store", "channel", store, received, time, threads);

    @AfterEach
    void close() {
        subscriber.close();
        log.close();
    }

    @Test
    void it_subscribes_when_it_is_started_and_messages_wake() {
        store.next(OPEN);
        assertThat(store.calls).isEmpty();

        subscriber.start();

        eventually().until(subscriber::isConnected);
        store.receiver.accept("17");
        eventually().untilAsserted(() -> assertThat(received.events).containsExactly("look", "wake 17"));
    }

    @Test
    void a_loss_is_logged_once_and_it_subscribes_again_after_pauses_that_double_up_to_five_seconds() {
        store.next(OPEN);
        subscriber.start();
        eventually().until(subscriber::isConnected);

        store.next(FAIL);

        eventually().until(() -> !subscriber.isConnected());
        for (long pause : new long[] {100, 200, 400, 800, 1600, 3200, 5000, 5000}) {
            int opened = store.opened();
            eventually().until(() -> store.closed() == opened);
            time.advance(Duration.ofMillis(pause - 1));
            assertThat(store.opened()).isEqualTo(opened);
            store.next(FAIL);
            time.advance(Duration.ofMillis(1));
            eventually().until(() -> store.opened() == opened + 1);
        }
        assertThat(log.messages())
                .containsExactly("Wake-ups from the store do not arrive; waiting callers poll until they do");
    }

    @Test
    void a_connection_that_is_lost_before_it_has_listened_once_does_not_end_the_loss() {
        store.next(OPEN, FAIL);
        subscriber.start();
        eventually().until(() -> store.closed() == 1);
        store.next(OPEN, FAIL);
        time.advance(Duration.ofMillis(100));
        eventually().until(() -> store.closed() == 2);
        assertThat(log.messages()).hasSize(1);

        store.next(OPEN, LISTENED, FAIL);
        time.advance(Duration.ofMillis(200));

        eventually().until(() -> store.closed() == 3);
        assertThat(log.messages()).hasSize(2);
    }

    @Test
    void a_lack_of_threads_is_a_loss_like_any_other() {
        store.next(NO_THREADS);
        subscriber.start();
        eventually().until(() -> store.closed() == 1);

        store.next(OPEN);
        time.advance(Duration.ofMillis(100));

        eventually().until(subscriber::isConnected);
        assertThat(log.messages())
                .containsExactly("Wake-ups from the store do not arrive; waiting callers poll until they do");
    }

    @Test
    void its_thread_is_made_for_the_first_waiter_and_if_there_is_none_for_a_later_one() {
        threads.exhausted = true;
        subscriber.start();
        subscriber.start();
        assertThat(subscriber.isConnected()).isFalse();
        threads.exhausted = false;
        store.next(OPEN);

        subscriber.start();

        eventually().until(subscriber::isConnected);
        assertThat(log.messages())
                .containsExactly("Wake-ups from the store do not arrive; waiting callers poll until they do");
    }

    /** Each waiter that finds no thread tries again, which must not lengthen the pauses of the connection. */
    @Test
    void the_first_failure_after_a_lack_of_threads_is_logged_and_repeated_after_the_shortest_pause() {
        threads.exhausted = true;
        for (int i = 0; i < 20; i++) {
            subscriber.start();
        }
        assertThat(log.messages()).hasSize(1);
        threads.exhausted = false;
        store.next(FAIL);
        subscriber.start();
        eventually().until(() -> store.closed() == 1);
        assertThat(log.messages()).hasSize(2);

        store.next(OPEN);
        time.advance(Duration.ofMillis(100));

        eventually().until(subscriber::isConnected);
        assertThat(log.messages()).hasSize(2);
    }

    @Test
    void everybody_looks_before_and_after_a_loss() {
        store.next(OPEN);
        subscriber.start();
        eventually().until(subscriber::isConnected);
        store.next(FAIL);
        eventually().until(() -> store.closed() == 1);

        store.next(OPEN);
        time.advance(Duration.ofMillis(100));

        eventually().until(subscriber::isConnected);
        eventually().untilAsserted(() -> assertThat(received.events).containsExactly("look", "look", "look"));
    }

    @Test
    void where_messages_do_not_arrive_it_logs_so_once_and_tests_again_every_ten_minutes() {
        store.next(SILENT);
        subscriber.start();
        eventually().until(() -> store.closed() == 1);
        assertThat(subscriber.isConnected()).isFalse();
        assertThat(subscriber.isAvailable()).isFalse();

        store.next(SILENT);
        time.advance(Duration.ofMinutes(10).minusMillis(1));
        assertThat(store.opened()).isEqualTo(1);
        time.advance(Duration.ofMillis(1));
        eventually().until(() -> store.closed() == 2);
        store.next(OPEN);
        time.advance(Duration.ofMinutes(10));

        eventually().until(subscriber::isConnected);
        assertThat(subscriber.isAvailable()).isTrue();
        assertThat(log.messages())
                .containsExactly(
                        "Wake-ups from the store do not pass the pooler or proxy in front of it; waiting callers poll");
    }

    @Test
    void a_connection_that_is_made_anew_is_tested_again() {
        store.next(OPEN);
        subscriber.start();
        eventually().until(subscriber::isConnected);
        store.next(FAIL);
        eventually().until(() -> store.closed() == 1);

        store.next(SILENT);
        time.advance(Duration.ofMillis(100));

        eventually().until(() -> !subscriber.isAvailable());
    }

    @Test
    void it_ends_while_it_listens() {
        store.next(OPEN);
        subscriber.start();
        eventually().until(subscriber::isConnected);

        subscriber.close();

        eventually().until(() -> !subscriber.isConnected());
        assertThat(store.closed())
                .as("connections that were closed instead of aborted")
                .isZero();
        assertThat(log.messages()).isEmpty();
    }

    @Test
    void what_is_opened_after_the_end_is_aborted() {
        subscriber.start();
        eventually().until(() -> store.opened() == 1);

        store.opensWhenItIsAborted = true;
        subscriber.close();

        eventually().untilAsserted(() -> assertThat(store.calls).containsExactly("open", "abort", "abort"));
        assertThat(subscriber.isConnected()).isFalse();
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(2));
    }

    /** Does what the test says next, and blocks until then. */
    private static final class Scripted implements WakeUpSubscriber.Subscription {

        private final BlockingQueue<String> script = new LinkedBlockingQueue<>();
        private final List<String> calls = new CopyOnWriteArrayList<>();
        private volatile Consumer<String> receiver;
        private volatile boolean opensWhenItIsAborted;

        void next(String... steps) {
            script.addAll(List.of(steps));
        }

        int opened() {
            return (int) calls.stream().filter("open"::equals).count();
        }

        int closed() {
            return (int) calls.stream().filter("close"::equals).count();
        }

        @Override
        public boolean open(Consumer<String> to) throws Exception {
            receiver = to;
            calls.add("open");
            return step().equals(OPEN);
        }

        @Override
        public void listen() throws Exception {
            step();
        }

        private String step() throws Exception {
            String step = script.take();
            if (step.equals(FAIL)) {
                throw new IOException("lost");
            }
            if (step.equals(NO_THREADS)) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return step;
        }

        @Override
        public void close() {
            calls.add("close");
        }

        @Override
        public void abort() {
            calls.add("abort");
            script.add(opensWhenItIsAborted ? OPEN : FAIL);
        }
    }

    /** Records the calls of the subscriber. */
    private static final class RecordingWakeUpListener implements WakeUpListener {

        private final List<String> events = new CopyOnWriteArrayList<>();

        @Override
        public void wake(long waiter) {
            events.add("wake " + waiter);
        }

        @Override
        public void handOver(long waiter, AcquireResult.Granted grant) {
            events.add("grant " + waiter);
        }

        @Override
        public void wakeUpsMissed() {
            events.add("look");
        }
    }
}
