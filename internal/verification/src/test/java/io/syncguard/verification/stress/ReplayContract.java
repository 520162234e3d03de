package io.syncguard.verification.stress;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.StressSettings;
import io.syncguard.verification.model.Spin;
import io.syncguard.verification.stress.StressServer.Surroundings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Each change of the store in a stress run is a step of the model of the protocol. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ReplayContract {

    private static final Pattern REJECTED = Pattern.compile("rejected: transaction (\\d+).*");

    private final List<List<RowChange>> keys = new ArrayList<>();

    /** The server of the run, whose changes are logged from now on. */
    abstract StressServer start(Surroundings surroundings);

    /** The changes that the server has logged for each of the busiest keys. */
    abstract List<List<RowChange>> ofBusiestKeys(int limit) throws Exception;

    @BeforeAll
    void run() throws Exception {
        Spin.assumeInstalled();
        OwnStressRun run = new OwnStressRun(StressSettings.fromSystemProperties(6), this::start);
        try {
            run.run();
            keys.addAll(ofBusiestKeys(5));
        } finally {
            run.stop();
        }
        run.deleteFiles();
    }

    @Test
    void each_transaction_is_a_step_of_the_model(@TempDir Path directory) throws Exception {
        for (List<RowChange> changes : keys) {
            ModelReplay replay = new ModelReplay(changes);
            String output = replay(replay, directory.resolve("" + keys.indexOf(changes)));

            assertThat(output)
                    .as(() -> rejected(replay, output))
                    .contains("accepted: " + replay.transactions() + " transactions");
            System.out.println("Replayed " + replay.transactions() + " transactions of a key");
        }
    }

    @Test
    void a_run_with_another_fence_is_rejected(@TempDir Path directory) throws Exception {
        List<RowChange> changes = new ArrayList<>(keys.get(0));
        int middle = changes.size() / 2;
        while (!leavesFence(changes, middle)) {
            middle++;
        }
        RowChange change = changes.get(middle);
        changes.set(
                middle,
                new RowChange(
                        change.transaction(),
                        change.nowMillis(),
                        'C',
                        change.operation(),
                        change.key(),
                        "",
                        false,
                        0,
                        0,
                        change.fence() + 1));

        assertThat(replay(new ModelReplay(changes), directory)).contains("rejected: ");
    }

    /** A release may draw a fence and take it back: nobody sees that one. */
    private static boolean leavesFence(List<RowChange> changes, int index) {
        RowChange change = changes.get(index);
        return change.table() == 'C'
                && changes.subList(index + 1, changes.size()).stream()
                        .noneMatch(later -> later.table() == 'C' && later.transaction() == change.transaction());
    }

    @Test
    void a_run_without_one_of_its_releases_is_rejected(@TempDir Path directory) throws Exception {
        List<RowChange> changes = new ArrayList<>(keys.get(0));
        RowChange release = changes.stream()
                .filter(change -> change.table() == 'L' && change.operation().equals("DELETE"))
                .filter(change -> change.expiresAt() > change.nowMillis())
                .findFirst()
                .orElseThrow();
        changes.removeIf(change -> change.transaction() == release.transaction());

        assertThat(replay(new ModelReplay(changes), directory)).contains("rejected: ");
    }

    @Test
    void a_run_with_a_moved_grant_is_rejected(@TempDir Path directory) throws Exception {
        List<RowChange> changes = new ArrayList<>(keys.get(0));
        List<Long> grants = changes.stream()
                .filter(change -> change.table() == 'L' && change.operation().equals("INSERT"))
                .map(RowChange::transaction)
                .distinct()
                .toList();
        List<RowChange> moved = changes.stream()
                .filter(change -> change.transaction() == grants.get(1))
                .toList();
        changes.removeAll(moved);
        changes.addAll(0, moved);

        assertThat(replay(new ModelReplay(changes), directory)).contains("rejected: ");
    }

    static String replay(ModelReplay replay, Path directory) throws Exception {
        return new Spin(directory, List.of("N=" + replay.slots())).replay(replay.run());
    }

    private static String rejected(ModelReplay replay, String output) {
        Matcher rejected = REJECTED.matcher(output);
        return rejected.find()
                ? rejected.group() + "\n" + replay.transaction(Integer.parseInt(rejected.group(1)))
                : output.substring(Math.max(0, output.length() - 2000));
    }
}
