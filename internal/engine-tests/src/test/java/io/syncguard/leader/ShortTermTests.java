package io.syncguard.leader;

import static io.syncguard.core.EngineFixture.eventually;
import static io.syncguard.leader.LeaderFixture.KEY;
import static io.syncguard.leader.LeaderFixture.NAME;
import static io.syncguard.leader.LeaderFixture.STEADY;
import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.testing.CapturedLog;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A member that leads for no time campaigns again after a pause, as after an error. */
class ShortTermTests {

    private static final String PAUSE = "in succession ended at once";

    @RegisterExtension
    private final LeaderFixture fixture = new LeaderFixture();

    private final LeaderMember member = fixture.election.define(NAME, STEADY, fixture.process.engine);

    static Stream<Named<BiConsumer<LeaderFixture, LeaderMember>>> ends() {
        return Stream.of(
                Named.of("resigns", (fixture, member) -> member.resign()),
                Named.of("pauses and resumes", (fixture, member) -> {
                    member.pause();
                    member.resume();
                }),
                Named.of("leaves and joins", (fixture, member) -> {
                    member.leave();
                    fixture.election.join(NAME);
                }),
                Named.of(
                        "is forced to release",
                        (fixture, member) -> fixture.process.engine.admin().forceRelease(KEY, "a test")),
                Named.of("resigns and fails", (fixture, member) -> {
                    member.resign();
                    throw new AssertionError("expected");
                }));
    }

    @ParameterizedTest
    @MethodSource("ends")
    void terms_that_end_at_once_are_followed_by_pauses_that_grow(BiConsumer<LeaderFixture, LeaderMember> end) {
        endEachTermBy(end);
        try (CapturedLog log = new CapturedLog()) {
            fixture.election.join(NAME);
            fixture.advance(Duration.ofSeconds(60));

            // Pauses of at most 0.25, 0.5, 1, 2, 4 and then 8 seconds, and of half of these at least.
            assertThat(elections()).isBetween(10L, 25L);
            assertThat(log.messages().stream().filter(message -> message.contains(PAUSE)))
                    .hasSizeBetween((int) elections() - 2, (int) elections());
        }
    }

    @Test
    void a_task_that_resigns_at_once_is_followed_by_pauses() {
        member.runWhileLeader(LeaderTerm::resign);

        fixture.election.join(NAME);
        fixture.advance(Duration.ofSeconds(60));

        assertThat(elections()).isBetween(10L, 25L);
    }

    @Test
    void a_long_term_ends_the_pauses() {
        AtomicBoolean steady = new AtomicBoolean();
        LeaderRegistration ends = endEachTermBy((same, leader) -> {
            if (!steady.get()) {
                leader.resign();
            }
        });
        fixture.election.join(NAME);
        fixture.advance(Duration.ofSeconds(30));
        steady.set(true);
        fixture.process.advanceUntil(member::isLeader);
        fixture.advance(Duration.ofSeconds(2));
        ends.close();

        long before = elections();
        fixture.process.engine.admin().forceRelease(KEY, "a test");

        // The clock stands still.
        eventually().until(() -> elections() == before + 1 && member.isLeader());
    }

    @Test
    void one_term_that_ended_at_once_delays_nothing() {
        fixture.election.join(NAME);
        eventually().until(member::isLeader);

        member.resign();

        // The clock stands still.
        eventually().until(() -> elections() == 2 && member.isLeader());
    }

    @Test
    void another_member_leads_during_the_pause() {
        endEachTermBy((same, leader) -> leader.resign());
        LeaderMember other = fixture.another("node-2");
        fixture.election.join(NAME);
        fixture.advance(Duration.ofSeconds(10));

        other.join();

        eventually().until(other::isLeader);
    }

    @Test
    void restarts_of_the_application_delay_no_election() {
        fixture.election.join(NAME);

        for (int i = 0; i < 5; i++) {
            eventually().until(member::isLeader);
            fixture.election.stop();
            fixture.election.start();
        }

        // The clock stands still.
        eventually().until(member::isLeader);
    }

    private LeaderRegistration endEachTermBy(BiConsumer<LeaderFixture, LeaderMember> end) {
        return member.addListener(new LeaderListener() {
            @Override
            public void elected(LeaderElectedEvent event) {
                end.accept(fixture, member);
            }
        });
    }

    private long elections() {
        return fixture.events.stream()
                .filter(event -> event.startsWith("elected"))
                .count();
    }
}
