package io.syncguard.verification.matrix;

import io.syncguard.LockErrorCode;
import io.syncguard.verification.matrix.Gaps.Gap;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** While no fault is injected, no lock is lost and no key stays free while a caller waits for it. */
final class CalmRules {

    private static final long MILLI = 1_000_000;

    /** How long the effects of earlier faults may last: clients reconnect within a second. */
    private static final long AFTER_FAULT = 1000 * MILLI;

    /** How long the entry of a dead or paused waiter may be in front: its ttl and the tolerance. */
    private static final long AFTER_DEATH = 6000 * MILLI;

    private CalmRules() {}

    /**
     * @param round a round without a fault
     * @param tolerance how long a key may stay free; a machine that may stall for longer than a ttl loses locks
     */
    static List<String> check(
            List<Call> calls, List<Gap> gaps, Absences absences, Round round, long ttlMillis, Duration tolerance) {
        long from = round.from() + AFTER_FAULT;
        long end = round.healed();
        List<String> violations = new ArrayList<>();
        calls.stream()
                .filter(call -> call.outcome().equals(LockErrorCode.LOST.name()))
                .filter(call -> call.granted() > from && call.end() < end)
                .filter(call -> tolerance.toMillis() <= ttlMillis)
                .filter(call -> absences.within(call.process(), call.start(), call.end()) < ttlMillis * MILLI / 3)
                .forEach(call ->
                        violations.add("LOSS: a lock was lost although nothing happened\n    " + call.toLine()));
        gaps.stream()
                .filter(gap -> gap.from() > from && gap.to() < end)
                .filter(gap -> gap.nanos() - absences.ofMachine(gap.from(), gap.to()) > tolerance.toNanos())
                .filter(gap -> !absences.isAnyAbsent(gap.from() - AFTER_DEATH, gap.to()))
                .forEach(gap -> violations.add("WAKE-UP: the key " + gap.key() + " stayed free for "
                        + gap.nanos() / MILLI + " ms although somebody waited and nothing happened, from "
                        + gap.from()));
        return violations;
    }
}
