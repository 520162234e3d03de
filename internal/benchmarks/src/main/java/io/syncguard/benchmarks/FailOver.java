package io.syncguard.benchmarks;

import io.syncguard.leader.LeaderSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;

/** The time from the end of one leader to the election of the next in another process, for some ttls and heartbeats. */
final class FailOver implements Measurement {

    /** The heartbeat is a third of the ttl, except in the last settings. */
    private static final List<LeaderSettings> SETTINGS = List.of(
            LeaderSettings.of(Duration.ofSeconds(1)),
            LeaderSettings.of(Duration.ofSeconds(3)),
            LeaderSettings.of(Duration.ofSeconds(3)).heartbeat(Duration.ofMillis(250)));

    private static final int MOST_TRIES = 10;

    /**
     * The result of one measurement, in milliseconds.
     *
     * @param resigned time after the leader resigned
     * @param killed time after the leader's process was killed
     */
    private record Found(double resigned, double killed) {

        /** Whether the leader had already lost its lease, as may happen with short leases on a busy machine. */
        boolean hasLostLeaseEarly() {
            return resigned < 0 || killed < 0;
        }
    }

    @Override
    public void run(Arena arena) throws Exception {
        String url = arena.url(Peer.SYNCGUARD);
        Map<String, Callable<Found>> measurements = new LinkedHashMap<>();
        for (LeaderSettings settings : SETTINGS) {
            measurements.put(
                    "ttl " + settings.ttl().toMillis() + " ms, heartbeat "
                            + settings.heartbeat().toMillis() + " ms",
                    () -> failOver(url, settings));
        }
        Map<String, List<Found>> found = arena.rounds().interleave(measurements);
        report(arena, "leader resigns to the next is elected, ms", found, Found::resigned);
        report(arena, "leader is killed to the next is elected, ms", found, Found::killed);
    }

    private static void report(
            Arena arena, String title, Map<String, List<Found>> found, ToDoubleFunction<Found> figure) {
        arena.report().title(title);
        found.forEach((settings, rounds) -> arena.report()
                .add(settings, rounds.stream().map(figure::applyAsDouble).toList()));
    }

    private static Found failOver(String url, LeaderSettings settings) throws IOException, InterruptedException {
        Found found = failOverOnce(url, settings);
        for (int tries = 1; found.hasLostLeaseEarly() && tries < MOST_TRIES; tries++) {
            found = failOverOnce(url, settings);
        }
        return found;
    }

    private static Found failOverOnce(String url, LeaderSettings settings) throws IOException, InterruptedException {
        String election = "of-" + System.nanoTime();
        try (ChildProcess first = new ChildProcess();
                ChildProcess second = new ChildProcess()) {
            campaign(first, url, election, settings);
            first.ask("elected");
            campaign(second, url, election, settings);
            // So the leader ends at a random time between two heartbeats.
            Pauses.pause((int) settings.ttl().toMillis());
            long resigned = Long.parseLong(first.ask("resign"));
            long next = Long.parseLong(second.ask("elected"));
            Pauses.pause((int) settings.ttl().toMillis());
            long killed = System.nanoTime();
            second.kill();
            long last = Long.parseLong(first.ask("elected"));
            return new Found((next - resigned) / 1e6, (last - killed) / 1e6);
        }
    }

    private static void campaign(ChildProcess process, String url, String election, LeaderSettings settings) {
        process.ask(
                "campaign",
                url,
                election,
                settings.ttl().toMillis(),
                settings.heartbeat().toMillis());
    }
}
