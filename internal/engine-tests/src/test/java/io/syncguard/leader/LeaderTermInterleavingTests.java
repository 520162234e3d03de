package io.syncguard.leader;

import static io.syncguard.testing.Interleavings.require;
import static io.syncguard.testing.Interleavings.started;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.testing.Interleavings;
import io.syncguard.testing.Interleavings.Scenario;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiConsumer;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A term ends at each point of what the campaign, its bodies and the membership do. */
@Tag("verification")
public class LeaderTermInterleavingTests {

    private static final int RUNS = 20;

    @Test
    void a_term_ends_once_after_its_bodies_and_is_reported_in_order() {
        assertThat(Interleavings.explore(RUNS, List.of(EndWithBody.class, TwoEnds.class, Rotation.class, Pause.class)))
                .allMatch(found -> found.startsWith("holds"));
    }

    @Test
    void a_body_that_does_not_end_is_found() {
        assertThat(Interleavings.explore(RUNS, EndlessBody.class))
                .startsWith("fails")
                .contains(Interleavings.HUNG);
    }

    /** A body that only the end of the term interrupts. */
    public static final class EndWithBody implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            ModelLeadership lock = new ModelLeadership();
            endWith(EndWithBody::work, lock);
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

    /** The campaign waits for a body of which it has no end. */
    public static final class EndlessBody implements Scenario {

        @Override
        @Operation
        public void run() throws Exception {
            endWith((term, lock) -> term.beginBody(), new ModelLeadership());
        }
    }

    private static void endWith(BiConsumer<LeaderTerm, ModelLeadership> body, ModelLeadership lock) {
        lock.runner.run(lock, term -> {
            term.begin(() -> {});
            started(() -> body.accept(term, lock));
            started(term::resign);
            return true;
        });
        lock.requireEnded();
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
