package io.syncguard.leader;

import static io.syncguard.testing.Interleavings.require;
import static io.syncguard.testing.Interleavings.started;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.testing.Interleavings;
import io.syncguard.testing.Interleavings.Scenario;
import io.syncguard.testing.LongInterleavings;
import io.syncguard.testing.PlantedBug;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Test;

/** A term ends at each point of what the campaign, its bodies and the membership do. */
public class LeaderTermInterleavingTests {

    private static final int RUNS = 20;

    @Test
    void a_term_ends_once_after_its_bodies_and_is_reported_in_order() {
        assertThat(Interleavings.explore(RUNS, List.of(EndWithBody.class, TwoEnds.class, Rotation.class, Pause.class)))
                .allMatch(found -> found.startsWith("holds"));
    }

    @Test
    void a_campaign_that_is_not_woken_by_the_last_body_is_found() {
        PlantedBug bug = PlantedBug.in(TermBodies.class, "unused.run();", "isLeader();");

        assertThat(Interleavings.explore(RUNS, bug, EndWithBody.class))
                .startsWith("fails")
                .contains(Interleavings.HUNG);
    }

    @Test
    @LongInterleavings
    void a_body_that_begins_while_the_term_ends_and_is_not_interrupted_is_found() {
        PlantedBug bug = PlantedBug.in(
                TermBodies.class,
                "if (isLeader()) {\n            return body;",
                "if (running.contains(body)) {\n            return body;");

        assertThat(Interleavings.explore(RUNS, bug, EndWithBody.class))
                .startsWith("fails")
                .contains(Interleavings.HUNG);
    }

    @Test
    void an_end_that_is_completed_twice_is_found() {
        PlantedBug bug = PlantedBug.in(
                LeaderTerm.class,
                "synchronized CompletableFuture<Void> reportEnd()",
                "CompletableFuture<Void> reportEnd()");

        assertThat(Interleavings.explore(RUNS, bug, TwoEnds.class))
                .startsWith("fails")
                .contains("the end is reported once");
    }

    @Test
    @LongInterleavings
    void a_rotation_after_the_end_is_found() {
        PlantedBug bug = PlantedBug.in(
                LeaderTerm.class, "private synchronized void reportRotation()", "private void reportRotation()");

        assertThat(Interleavings.explore(RUNS, bug, Rotation.class))
                .startsWith("fails")
                .contains("nothing is reported after the end");
    }

    @Test
    @LongInterleavings
    void a_term_that_begins_in_a_pause_is_found() {
        PlantedBug bug = PlantedBug.in(
                Membership.class,
                "lock.lock();\n        try {\n            if (!isCampaigning()) {",
                "boolean member = isCampaigning();\n        lock.lock();\n        try {\n            if (!member) {");

        assertThat(Interleavings.explore(RUNS, bug, Pause.class))
                .startsWith("fails")
                .contains("nobody leads after the pause has begun");
    }

    /** A body that only the end of the term interrupts. */
    public static final class EndWithBody implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            ModelLeadership lock = new ModelLeadership();
            lock.runner.run(lock, term -> {
                term.begin(() -> {});
                started(() -> work(term, lock));
                started(term::resign);
                return true;
            });

            lock.requireEnded();
            require(lock.released && !lock.releasedEarly, "the lock is released after its body");
        }

        private static void work(LeaderTerm term, ModelLeadership lock) {
            TermBody body = term.beginBody();
            if (body == null) {
                return;
            }
            try {
                body.call(() -> {
                    new CountDownLatch(1).await();
                    return term;
                });
            } catch (Exception interrupted) {
                lock.releasedEarly |= lock.released;
            } finally {
                body.end(null);
            }
        }
    }

    public static final class TwoEnds implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            ModelLeadership lock = new ModelLeadership();
            LeaderTerm term = lock.term();
            term.begin(() -> {});
            Thread other = started(term::resign);
            term.reportEnd();
            other.join();

            lock.requireEnded();
        }
    }

    public static final class Rotation implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            ModelLeadership lock = new ModelLeadership();
            LeaderTerm term = lock.term();
            term.begin(() -> {});
            Thread other = started(term::resign);
            term.rotateFence();
            other.join();

            lock.requireEnded();
        }
    }

    public static final class Pause implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            ModelLeadership lock = new ModelLeadership();
            LeaderTerm term = lock.term();
            Membership membership = new Membership(() -> {});
            membership.open();
            membership.join(() -> {}, () -> {});
            Thread campaign = started(() -> membership.begin(term));
            membership.pause();
            LeaderTerm led = membership.term();
            require(led == null || !led.isLeader(), "nobody leads after the pause has begun");
            campaign.join();
            LeaderTerm leads = membership.term();
            require(leads == null || !leads.isLeader(), "nobody leads after the pause has begun");
        }
    }
}
