package io.syncguard.benchmarks;

import io.syncguard.leader.LeaderSettings;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The main class of a process that takes part in a measurement. Its commands are the cases of {@link #answer}.
 *
 * <p>Times are those of {@link System#nanoTime}, whose origin all processes of one machine share (on Linux it is
 * {@code CLOCK_MONOTONIC}).
 */
final class Child {

    /** The beginning of the last answer of a process whose command failed. */
    static final String FAILED = "failed: ";

    private final Map<Peer, WaitingContender> contenders = new HashMap<>();
    private final Map<String, BareNotifications> callers = new HashMap<>();
    private final List<HeldKey> filled = new ArrayList<>();
    private @Nullable HeldKey held;
    private @Nullable Candidate candidate;

    private Child() {}

    /** Answers each line of the input until its end. */
    public static void main(String[] args) throws IOException {
        PrintStream answers = System.out;
        System.setOut(System.err);
        Child child = new Child();
        try (BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String command = commands.readLine(); command != null; command = commands.readLine()) {
                answers.println(child.answer(command.split(" ")));
                answers.flush();
            }
            System.exit(0);
        } catch (Exception | Error ex) {
            answers.println(FAILED + stackTraceInOneLine(ex));
            answers.flush();
            System.exit(1);
        }
    }

    private static String stackTraceInOneLine(Throwable failure) {
        StringWriter trace = new StringWriter();
        failure.printStackTrace(new PrintWriter(trace, true));
        return trace.toString().replaceAll("\\R\\s*", " | ");
    }

    private String answer(String[] words) throws Exception {
        return switch (words[0]) {
            case "open" -> open(Peer.valueOf(words[1]), words[2]);
            case "contend" -> contend(contender(words[1]), Integer.parseInt(words[2]), millis(words[3]));
            case "wait" -> {
                WaitingContender contender = contender(words[1]);
                held = new HeldKey(body -> contender.await(TwoProcesses.HANDED_OVER, body));
                yield "waiting";
            }
            case "began" -> String.valueOf(held().began());
            case "end" -> String.valueOf(held().end());
            case "fill" -> fill(contender(words[1]), words[2], millis(words[3]), Integer.parseInt(words[4]));
            case "empty" -> empty();
            case "campaign" -> {
                LeaderSettings settings = LeaderSettings.of(millis(words[3])).heartbeat(millis(words[4]));
                candidate = new Candidate(Bench.application(words[1]), words[2], settings);
                yield "campaigning";
            }
            case "elected" -> String.valueOf(candidate().awaitElection());
            case "resign" -> String.valueOf(candidate().resign());
            case "echo" -> {
                BareNotifications.echo(words[1]);
                yield "listening";
            }
            case "call" -> call(words[1], millis(words[2]), Integer.parseInt(words[3]));
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    private String open(Peer peer, String url) {
        if (!contenders.containsKey(peer) && peer.open(url) instanceof WaitingContender contender) {
            contenders.put(peer, contender);
        }
        return "open";
    }

    private WaitingContender contender(String peer) {
        WaitingContender contender = contenders.get(Peer.valueOf(peer));
        if (contender == null) {
            throw new IllegalStateException(peer + " is not open");
        }
        return contender;
    }

    private String fill(WaitingContender contender, String key, Duration ttl, int permits) throws Exception {
        if (!(contender instanceof PermitContender permitContender)) {
            throw new IllegalArgumentException(contender + " has no permits");
        }
        List<HeldKey> taken = new ArrayList<>();
        for (int i = 0; i < permits; i++) {
            taken.add(new HeldKey(body -> permitContender.await(key, ttl, body)));
        }
        for (HeldKey each : taken) {
            each.began();
        }
        filled.addAll(taken);
        return "full";
    }

    private String empty() throws Exception {
        for (HeldKey each : filled) {
            each.end();
        }
        filled.clear();
        return "empty";
    }

    private HeldKey held() {
        if (held == null) {
            throw new IllegalStateException("There is no waiter");
        }
        return held;
    }

    private Candidate candidate() {
        if (candidate == null) {
            throw new IllegalStateException("There is no candidate");
        }
        return candidate;
    }

    private static Duration millis(String millis) {
        return Duration.ofMillis(Long.parseLong(millis));
    }

    /** Lets threads contend for one key with an empty body, and answers with the beginning and end of each body. */
    private static String contend(WaitingContender contender, int threads, Duration duration) throws Exception {
        ConcurrentLinkedQueue<Body> bodies = new ConcurrentLinkedQueue<>();
        long end = System.nanoTime() + duration.toNanos();
        Bench.perSecond(
                threads,
                duration,
                (thread, count) -> contender.await("hot", () -> {
                    long began = System.nanoTime();
                    bodies.add(new Body(thread, began, System.nanoTime()));
                }));
        List<Body> inTime = bodies.stream().filter(body -> body.began() < end).toList();
        // The answer must not be empty: on a very slow machine no body may have ended in time.
        return (inTime.isEmpty() ? bodies : inTime).stream().map(Body::toString).collect(Collectors.joining(" "));
    }

    /** Calls repeatedly and answers with the nanoseconds until each echo arrived. */
    private String call(String url, Duration duration, int longestPauseMillis) throws Exception {
        BareNotifications caller = callers.get(url);
        if (caller == null) {
            caller = BareNotifications.caller(url);
            callers.put(url, caller);
        }
        List<String> trips = new ArrayList<>();
        long end = System.nanoTime() + duration.toNanos();
        do {
            Pauses.pause(longestPauseMillis);
            trips.add(String.valueOf(caller.call()));
        } while (System.nanoTime() < end);
        return String.join(" ", trips);
    }
}
