package io.syncguard.spi;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.syncguard.core.ManualTime;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.ScarceThreads;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
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
    private static final String DEAF = "deaf";
    private static final String FAIL = "fail";
    private static final String NO_THREADS = "no threads";

    private static final String LOST = "Wake-ups from the store do not arrive; waiting callers poll until they do";
    private static final String OVER = "Wake-ups from the store arrive again";
    private static final String NEVER_PASSED =
            "Wake-ups from the store do not pass the pooler or proxy in front of it; waiting callers poll";

    private final ManualTime time = new ManualTime();
    private final RecordingWakeUpListener received = new RecordingWakeUpListener();
    private final Scripted store = new Scripted();
    private final CapturedLog log = new CapturedLog(Level.INFO);
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
        assertThat(log.messages()).containsExactly(LOST);
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
        assertThat(log.messages()).containsExactly(LOST, OVER, LOST);
    }

    @Test
    void a_connection_that_listened_for_longer_than_the_pause_before_it_begins_the_pauses_anew() {
        store.next(OPEN);
        subscriber.start();
        eventually().until(subscriber::isConnected);
        for (int lost = 1; lost < 6; lost++) {
            int closed = lost;
            store.next(FAIL);
            eventually().until(() -> store.closed() == closed);
            store.next(OPEN);
            time.advance(Duration.ofMillis(100));
            eventually().until(subscriber::isConnected);
            time.advance(Duration.ofMillis(101));
        }
    }

    @Test
    void a_lack_of_threads_is_a_loss_like_any_other() {
        store.next(NO_THREADS);
        subscriber.start();
        eventually().until(() -> store.closed() == 1);

        store.next(OPEN);
        time.advance(Duration.ofMillis(100));

        eventually().until(subscriber::isConnected);
        assertThat(log.messages()).containsExactly(LOST);
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
        assertThat(log.messages()).containsExactly(LOST);
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
    void where_messages_never_arrive_it_logs_so_once_and_tests_new_connections_after_pauses_up_to_ten_minutes() {
        store.next(SILENT);
        subscriber.start();
        eventually().until(() -> store.opened() == 1);
        for (long pause : new long[] {10, 20, 40, 80, 160, 320, 600, 600}) {
            int opened = store.opened();
            eventually().until(() -> store.closed() == opened);
            assertThat(subscriber.isConnected()).isFalse();
            assertThat(subscriber.isAvailable()).isFalse();
            time.advance(Duration.ofSeconds(pause).minusMillis(1));
            assertThat(store.opened()).isEqualTo(opened);
            store.next(SILENT);
            time.advance(Duration.ofMillis(1));
            eventually().until(() -> store.opened() == opened + 1);
        }
        eventually().until(() -> store.opened() == store.closed());
        assertThat(log.messages()).containsExactly(NEVER_PASSED);

        store.next(OPEN, LISTENED);
        time.advance(Duration.ofMinutes(10));

        eventually().untilAsserted(() -> assertThat(log.messages()).containsExactly(NEVER_PASSED, OVER));
        assertThat(subscriber.isConnected()).isTrue();
        assertThat(subscriber.isAvailable()).isTrue();
    }

    @Test
    void where_messages_arrive_no_more_it_subscribes_anew_and_logs_the_beginning_and_the_end() {
        store.next(OPEN, LISTENED);
        subscriber.start();
        eventually().until(() -> store.tests() == 2);
        assertThat(subscriber.isConnected()).isTrue();

        store.next(DEAF);
        eventually().until(() -> store.closed() == 1);
        assertThat(subscriber.isConnected()).isFalse();
        assertThat(store.calls).endsWith("test", "distrust", "close");
        store.next(SILENT);
        time.advance(Duration.ofMillis(100));
        eventually().until(() -> store.closed() == 2);
        assertThat(log.messages()).containsExactly(LOST);

        store.next(OPEN, LISTENED);
        time.advance(Duration.ofSeconds(10));

        eventually().untilAsserted(() -> assertThat(log.messages()).containsExactly(LOST, OVER));
        assertThat(received.events).as("before and after each loss").containsExactly("look", "look", "look");
    }

    /** The beginning of an outage may be seen by a test that cannot be sent, such as for a missing right. */
    @Test
    void a_test_that_cannot_be_sent_is_a_loss() {
        store.next(OPEN);
        subscriber.start();
        eventually().until(subscriber::isConnected);

        store.refuses = true;
        store.next(LISTENED);

        eventually().until(() -> store.closed() == 1);
        assertThat(log.messages()).containsExactly(LOST);
    }

    @Test
    void every_server_that_sends_wake_ups_is_tested() {
        store.servers = 3;
        store.next(OPEN, LISTENED);
        subscriber.start();
        eventually().until(() -> store.tests() == 2);
        assertThat(subscriber.isConnected()).isTrue();

        store.deafTo = 1;
        store.next(LISTENED);

        eventually().until(() -> store.closed() == 1);
        assertThat(log.messages()).containsExactly(LOST);
    }

    @Test
    void a_minute_after_the_last_wait_it_tests_no_more_until_somebody_waits_again() {
        store.next(OPEN, LISTENED);
        subscriber.start();
        eventually().until(() -> store.tests() == 2);
        time.advance(Duration.ofMinutes(1).minusMillis(1));
        store.next(LISTENED);
        eventually().until(() -> store.tests() == 3);

        time.advance(Duration.ofMillis(1));
        store.next(LISTENED, LISTENED);
        eventually().until(() -> store.pings() == 2);
        assertThat(store.tests()).isEqualTo(3);

        subscriber.start();
        store.next(LISTENED);
        eventually().until(() -> store.tests() == 4);
    }

    @Test
    void a_late_test_is_ignored() {
        store.next(OPEN, DEAF);
        subscriber.start();
        eventually().until(() -> store.closed() == 1);

        store.receiver.accept(store.lastTest);

        assertThat(log.messages()).containsExactly(LOST);
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

        eventually()
                .untilAsserted(() ->
                        assertThat(store.calls).startsWith("open", "abort").endsWith("abort"));
        assertThat(store.closed()).isZero();
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
        private volatile boolean deaf;
        private volatile boolean refuses;
        private volatile int servers = 1;
        private volatile int deafTo;
        private volatile String lastTest;

        void next(String... steps) {
            script.addAll(List.of(steps));
        }

        int opened() {
            return count("open");
        }

        int closed() {
            return count("close");
        }

        int tests() {
            return count("test");
        }

        int pings() {
            return count("ping");
        }

        private int count(String call) {
            return (int) calls.stream().filter(call::equals).count();
        }

        @Override
        public void open(Consumer<String> to) throws Exception {
            receiver = to;
            calls.add("open");
            deaf = step().equals(SILENT);
        }

        @Override
        public int send(String message) throws Exception {
            if (refuses) {
                throw new IOException("refused");
            }
            calls.add("test");
            lastTest = message;
            for (int i = deafTo; i < servers && !deaf; i++) {
                receiver.accept(message);
            }
            return servers;
        }

        /** What a test waits for has arrived already, or never does. */
        @Override
        public void listen(CompletableFuture<?> until, Duration atMost) throws Exception {
            if (atMost.compareTo(Duration.ofSeconds(2)) > 0) {
                deaf = step().equals(DEAF);
            }
        }

        @Override
        public void ping() {
            calls.add("ping");
        }

        @Override
        public void distrust() {
            calls.add("distrust");
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
