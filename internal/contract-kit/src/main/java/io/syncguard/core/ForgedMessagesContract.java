package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.core.EngineFixture.inAnotherThread;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.testing.CapturedLog;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages that another client sends to the channel of a process do no harm to its waiters. */
public abstract class ForgedMessagesContract extends ContractFixture {

    private static final String SECRET = "AAAAAAAAAAAAAAAAAAAAAA";

    private static final String WARNING =
            "Ignored a message on the channel for wake-ups of this process that no release has sent";

    private static final LockRequest REQUEST =
            LockRequest.of(KEY).ttl(TTL).waitTime(Duration.ofMinutes(5)).noHeartbeat();

    private final CapturedLog log = new CapturedLog();
    private LockEngine engine;

    /** Sends a message to all listening processes, like any client that may send to their channels. */
    protected abstract void sendToAll(String message);

    @BeforeEach
    void start() {
        engine = new LockEngine(
                elsewhere(),
                DefaultSettings.of("test"),
                TransactionBoundary.NONE,
                List.of(),
                LockObserver.NONE,
                Time.SYSTEM);
    }

    @AfterEach
    void close() {
        log.close();
        engine.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"%d 700 %d %d", "%d " + SECRET + " 700 %d %d"})
    void a_forged_hand_over_does_not_make_a_waiter_hold_and_the_true_one_does(String forged) throws Exception {
        AcquireRequest holder = held(writer());
        FutureTask<LockHandle> waiter = waiting();

        // The numbers of the waiters are not secret, because they count up.
        LongStream.range(0, 50).forEach(number -> sendToAll(forged.formatted(number, 1, Long.MAX_VALUE / 10)));
        release(holder);

        LockHandle lock = granted(waiter);
        assertThat(lock.fence()).is(nth(2));
        assertThat(backend().lookupById(lock.lockId())).isPresent();
        awaitWarning();
        lock.release();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "x",
                "-1",
                "1 2",
                "1 2 3",
                "1 2 3 4 5 6",
                "99999999999999999999",
                "1 " + SECRET + " 0 0 0",
                "1 " + SECRET + " 9999999999999999999 0 0",
                "1\n",
                "\u0661"
            })
    void a_malformed_message_changes_nothing(String malformed) throws Exception {
        AcquireRequest holder = held(writer());
        FutureTask<LockHandle> waiter = waiting();

        sendToAll(malformed);
        release(holder);

        LockHandle lock = granted(waiter);
        assertThat(lock.fence()).is(nth(2));
        assertThat(elsewhere().isConnected()).isTrue();
        awaitWarning();
        lock.release();
    }

    @Test
    void a_forged_wake_up_costs_a_look() throws Exception {
        AcquireRequest holder = held(writer());
        FutureTask<LockHandle> waiter = waiting();

        LongStream.range(0, 50).forEach(number -> sendToAll(String.valueOf(number)));
        release(holder);

        LockHandle lock = granted(waiter);
        assertThat(lock.fence()).is(nth(2));
        assertThat(log.messages()).isEmpty();
        lock.release();
    }

    /** Starts a waiter. Waits until the process listens, so that it receives every later message. */
    private FutureTask<LockHandle> waiting() {
        FutureTask<LockHandle> waiter = inAnotherThread(() -> engine.acquire(REQUEST));
        eventually().until(elsewhere()::isConnected);
        return waiter;
    }

    /** Waits for the warning: in a cluster, a message of another node may overtake the forged one. */
    private void awaitWarning() {
        eventually().untilAsserted(() -> assertThat(log.messages()).containsExactly(WARNING));
    }

    private static LockHandle granted(FutureTask<LockHandle> waiter) throws Exception {
        eventually().until(waiter::isDone);
        return waiter.get();
    }
}
