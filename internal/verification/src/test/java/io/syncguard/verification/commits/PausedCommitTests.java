package io.syncguard.verification.commits;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.CommitGuard;
import io.syncguard.testing.ChildJvm;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

/** Two processes, one of which is paused during its transaction for longer than its lease. */
class PausedCommitTests {

    private final String url = CommitRun.newDatabase();
    private final JdbcTemplate jdbc = new JdbcTemplate(PostgresServer.dataSource(url));
    private ChildJvm first;
    private ChildJvm second;

    @BeforeEach
    void start() {
        first = CommitRun.newProcess(url, CommitGuard.REQUIRED, 2);
        second = CommitRun.newProcess(url, CommitGuard.REQUIRED, 2);
    }

    @AfterEach
    void stop() {
        first.close();
        second.close();
    }

    @Tag("verification")
    @Test
    void a_holder_that_is_paused_before_it_writes_cannot_commit_after_the_next_one() {
        first.ask("stop-at order BEGUN");
        first.pause();
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> second.ask("once order").equals("committed"));
        first.resume();

        assertThat(first.ask("go-on")).isEqualTo("lost");
        assertThat(fences()).as("of the second process alone").singleElement().isNotEqualTo(1L);
    }

    @Test
    void one_that_has_written_cannot_commit_either() {
        first.ask("stop-at order WRITTEN");
        first.pause();
        awaitLapse();
        // Its effect waits for the transaction that is paused, not for the lock.
        assertThat(second.ask("once other")).isEqualTo("committed");
        first.resume();

        assertThat(first.ask("go-on")).isEqualTo("lost");
        assertThat(fences()).isEmpty();
        assertThat(second.ask("once order")).isEqualTo("committed");
    }

    @Tag("verification")
    @Test
    void while_a_holder_is_paused_between_pin_and_commit_nobody_takes_over_and_its_commit_succeeds() {
        first.ask("stop-at order PINNED");
        first.pause();
        awaitLapse();
        assertThat(second.ask("once order"))
                .startsWith("not acquired: Lock 'order' is held by ")
                .contains("a transaction that commits under it has not ended");
        first.resume();

        assertThat(first.ask("go-on")).isEqualTo("committed");
        assertThat(second.ask("once order")).isEqualTo("committed");
        assertThat(fences()).containsExactly(1L, 2L);
    }

    @Tag("verification")
    @Test
    void when_it_dies_there_its_transaction_is_rolled_back_and_the_key_is_free() {
        first.ask("stop-at order PINNED");
        first.pause();
        awaitLapse();
        first.kill();

        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> second.ask("once order").equals("committed"));
        assertThat(fences()).as("of the second process alone").singleElement().isNotEqualTo(1L);
    }

    private void awaitLapse() {
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> jdbc.queryForObject(
                        "SELECT expires_at_ms + 1000 < syncguard_locks_now() FROM syncguard_locks WHERE key = 'order'",
                        Boolean.class));
    }

    private List<Long> fences() {
        return jdbc.queryForList("SELECT fence FROM effect WHERE key = 'order' ORDER BY version", Long.class);
    }
}
