package io.syncguard.verification.history;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/** Judges the histories of several processes, for runs outside of this package. */
public final class HistoryJudge {

    private HistoryJudge() {}

    /**
     * @param operations number of operations that were answered or failed
     * @param violations as text, with the events that show them
     */
    public record Judgement(long operations, List<String> violations) {}

    /**
     * @param files the histories of the processes and of the test
     * @param directory for temporary files
     * @param notPromised names of rules that the faults of the run may break
     */
    public static Judgement judge(Collection<Path> files, Path directory, Set<String> notPromised) {
        History history = History.of(files, directory);
        List<String> violations = new ArrayList<>();
        history.forEachKey((key, events) -> HistoryChecker.check(events, history.processes()).stream()
                .filter(violation -> !notPromised.contains(violation.rule().name()))
                .forEach(violation -> violations.add(violation.toString())));
        return new Judgement(history.operations(), violations);
    }
}
