package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.WakeUpListener;
import io.syncguard.spi.WakeUpMessages;
import io.syncguard.testing.CapturedLog;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A process accepts a hand-over only with the secret of the addressed waiter. */
class WakeUpMessagesTests {

    private final ManualTime time = new ManualTime();
    private final RecordingWakeUpListener received = new RecordingWakeUpListener();
    private final WakeUpMessages messages = new WakeUpMessages(received, time);
    private final CapturedLog log = new CapturedLog();

    @AfterEach
    void close() {
        log.close();
    }

    @Test
    void a_number_wakes_the_waiter() {
        messages.receive("17");

        assertThat(received.events).containsExactly("wake 17");
        assertThat(log.messages()).isEmpty();
    }

    @Test
    void a_hand_over_with_the_secret_of_the_waiter_is_accepted() {
        messages.receive("17 " + messages.secretOf(17) + " 42 1000 6000");

        assertThat(received.events)
                .containsExactly("grant 17 "
                        + new AcquireResult.Granted(
                                new Fence(42), Instant.ofEpochMilli(1000), Instant.ofEpochMilli(6000)));
        assertThat(log.messages()).isEmpty();
    }

    @Test
    void a_secret_of_another_waiter_or_of_another_process_is_refused() {
        messages.receive("17 " + messages.secretOf(18) + " 42 1000 6000");
        messages.receive("17 " + new WakeUpMessages(received, time).secretOf(17) + " 42 1000 6000");

        assertThat(received.events).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "17 ",
                " 17",
                "-17",
                "+17",
                "\u0661\u0667",
                "1234567890123456789",
                "17 SECRET",
                "17 SECRET 42 1000",
                "17 SECRET 42 1000 6000 ",
                "17 SECRET 42 1000 6000 7000",
                "17  SECRET 42 1000 6000",
                "17 SECRET -42 1000 6000",
                "17 SECRET 1234567890123456 1000 6000",
                "17 SECRET 42 1000 1234567890123456789"
            })
    void a_message_of_another_form_is_refused(String form) {
        messages.receive(form.replace("SECRET", messages.secretOf(17)));

        assertThat(received.events).isEmpty();
        assertThat(log.messages()).hasSize(1);
    }

    @Test
    void no_two_waiters_have_the_same_secret_and_it_stays_the_same() {
        List<String> secrets =
                LongStream.range(0, 10_000).mapToObj(messages::secretOf).toList();

        assertThat(secrets)
                .doesNotHaveDuplicates()
                .allMatch(secret -> secret.matches("[A-Za-z0-9_-]{22}"))
                .element(17)
                .isEqualTo(messages.secretOf(17));
    }

    @Test
    void forged_messages_are_logged_once_a_minute_however_many_arrive_and_not_quoted() {
        messages.receive("17 " + messages.secretOf(18) + " 42 1000 6000");
        messages.receive("nonsense");
        time.advance(Duration.ofMinutes(1).minusNanos(1));
        messages.receive("nonsense");
        assertThat(log.messages())
                .containsExactly(
                        "Ignored a message on the channel for wake-ups of this process that no release has sent");

        time.advance(Duration.ofNanos(1));
        messages.receive("nonsense");
        messages.receive("nonsense");
        assertThat(log.messages()).hasSize(2);
    }

    private static final class RecordingWakeUpListener implements WakeUpListener {

        private final List<String> events = new ArrayList<>();

        @Override
        public void wake(long waiter) {
            events.add("wake " + waiter);
        }

        @Override
        public void handOver(long waiter, AcquireResult.Granted grant) {
            events.add("grant " + waiter + " " + grant);
        }

        @Override
        public void wakeUpsMissed() {}
    }
}
