package io.syncguard.testing;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.LogbackServiceProvider;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/**
 * A test may be the first to log, or log while another thread does so for the first time. Each case needs a process
 * that has not logged yet.
 */
class LogbackLoggerTests {

    @ParameterizedTest
    @ValueSource(strings = {"captured", "failing", "named"})
    void a_test_listens_to_the_log_while_another_thread_initialises_logging(String listener) {
        try (ChildJvm child = ChildJvm.start(Listening.class)) {
            assertThat(child.ask(listener)).isEqualTo("it listens");
        }
    }

    /** The child: one thread initialises logging and stops in the middle, then another one listens. */
    static final class Listening {

        private static final Map<String, Supplier<Object>> LISTENERS = Map.of(
                "captured", CapturedLog::new,
                "failing", () -> new FailingLog("any"),
                "named", () -> LogbackLogger.named(Logger.ROOT_LOGGER_NAME));

        public static void main(String[] args) throws IOException {
            System.setProperty(LoggerFactory.PROVIDER_PROPERTY_KEY, StoppedProvider.class.getName());
            ChildJvm.serve(Listening::listen);
        }

        private static String listen(String listener) {
            start(() -> LoggerFactory.getLogger("first"));
            try {
                StoppedProvider.INITIALISING.await();
                FutureTask<Object> listening = new FutureTask<>(LISTENERS.get(listener)::get);
                Thread listens = start(listening);
                Awaitility.await().until(() -> listening.isDone() || waits(listens));
                StoppedProvider.GO_ON.countDown();
                listening.get();
                return "it listens";
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
                return ex.toString();
            } catch (ExecutionException ex) {
                return ex.getCause().toString();
            }
        }

        private static boolean waits(Thread thread) {
            return thread.getState() != Thread.State.RUNNABLE && thread.getState() != Thread.State.NEW;
        }

        private static Thread start(Runnable work) {
            Thread thread = new Thread(work);
            thread.setDaemon(true);
            thread.start();
            return thread;
        }
    }

    /** Logback, whose configuration takes until the test lets it go on. */
    public static final class StoppedProvider extends LogbackServiceProvider {

        static final CountDownLatch INITIALISING = new CountDownLatch(1);
        static final CountDownLatch GO_ON = new CountDownLatch(1);

        @Override
        public void initialize() {
            INITIALISING.countDown();
            try {
                GO_ON.await();
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
            super.initialize();
        }
    }
}
