package io.syncguard.verification.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.StressSettings;
import io.syncguard.verification.history.History;
import io.syncguard.verification.history.HistoryChecker;
import io.syncguard.verification.history.Violation;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.util.FileSystemUtils;

/**
 * Threads are interrupted two hundred times in a second, even while they release: a released lock is released, and an
 * interrupted thread leaves nothing behind.
 *
 * <p>{@code -Dsyncguard.stress.seed} and {@code .seconds} change the run, which is short.
 */
@ParameterizedClass
@MethodSource("io.syncguard.verification.queue.QueueStore#ofBuild")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class InterruptStormTests {

    private static final int SECONDS = 3;

    @Parameter
    private QueueStore store;

    private QueueServer server;
    private final List<Violation> violations = new ArrayList<>();
    private final StressSettings settings = StressSettings.fromSystemProperties();
    private Path directory;
    private History history;
    private Collection<String> left;

    @BeforeParameterizedClassInvocation
    void work() throws Exception {
        server = store.start();
        violations.clear();
        directory = settings.newDirectory("storm");
        Path file = directory.resolve("storm.history");
        try (InterruptStorm storm = new InterruptStorm(server, file)) {
            left = storm.run(new Random(settings.seed()), Integer.getInteger("syncguard.stress.seconds", SECONDS));
        }
        history = History.of(List.of(file), directory);
        history.forEachKey((key, events) -> violations.addAll(HistoryChecker.check(events, history.processes())));
        System.out.println("interrupts with -Dsyncguard.stress.seed=" + settings.seed() + ": " + byRule() + " "
                + left.size() + " left; " + history.counts());
    }

    @AfterParameterizedClassInvocation
    void end() throws IOException {
        if (violations.isEmpty()) {
            FileSystemUtils.deleteRecursively(directory);
        }
        server.close();
    }

    @Test
    void no_rule_is_broken() {
        assertThat(violations)
                .as(() -> byRule() + " with -Dsyncguard.stress.seed=" + settings.seed())
                .isEmpty();
    }

    @Test
    void nothing_is_left_behind() {
        assertThat(left).isEmpty();
    }

    @Test
    void everything_happened_that_is_to_be_judged() {
        assertThat(history.counts())
                .containsKeys("INTERRUPTED OK", "ABORTED OK", "HANDLE_RELEASED OK", "ACQUIRE QUEUED", "SEEN OK");
    }

    private String byRule() {
        return violations.stream()
                .collect(Collectors.groupingBy(Violation::rule, Collectors.counting()))
                .toString();
    }
}
