package io.syncguard.leader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.syncguard.testing.ChildJvm;
import io.syncguard.testing.ThreadShortage;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Locks and elections in a JVM that can make no thread. The other tests of this package only simulate that. */
class ThreadShortageTests {

    private final ChildJvm process = ChildJvm.start(ElectionProcess.class);

    @BeforeEach
    void exhaust() {
        assumeTrue(ThreadShortage.isPossible(), "Only Linux with prlimit can take the threads of a process");
        assertThat(process.ask("join")).isEqualTo("joined");
        awaitEvents("one elected 1", "one works");
        process.takeThreads("exhaust");
        assertThat(process.ask("make a thread")).isEqualTo("none can be made");
    }

    @AfterEach
    void close() {
        process.close();
    }

    @Test
    void leadership_changes_hands_and_losses_are_reported() {
        process.ask("resign");
        awaitEvents("one elected 1", "one revoked 1 RESIGNED", "one works", "two elected 2");
        process.ask("resign");
        awaitEvents(
                "one elected 1",
                "one elected 3",
                "one revoked 1 RESIGNED",
                "one works",
                "one works",
                "two elected 2",
                "two revoked 2 RESIGNED");
        assertThat(process.ask("lose")).isEqualTo("lost: true");
        await().atMost(Duration.ofSeconds(30))
                .until(() -> process.ask("events").contains("callback of a loss, one")
                        && process.ask("events").contains("one revoked 3 LOST")
                        && process.ask("events").contains("two elected 4"));
        assertThat(process.ask("make a thread")).isEqualTo("none can be made");
    }

    @Test
    void a_lock_is_released() {
        assertThat(process.ask("release")).isEqualTo("released: true, taken: false");
        assertThat(process.ask("make a thread")).isEqualTo("none can be made");
    }

    @Test
    void a_join_fails_and_works_when_there_are_threads_again() {
        assertThat(process.ask("join another")).startsWith("joined: false, unable to create native thread");
        process.giveThreads("recover");

        await().atMost(Duration.ofSeconds(30))
                .until(() -> process.ask("join another").equals("joined: true"));
        await().atMost(Duration.ofSeconds(30))
                .until(() -> process.ask("events").contains("one elected 1, one elected 1"));
    }

    private void awaitEvents(String... expected) {
        String events = String.join(", ", expected);
        await().atMost(Duration.ofSeconds(30)).until(() -> process.ask("events").equals(events));
    }
}
