package io.syncguard.core;

import io.syncguard.Fence;
import io.syncguard.LockMode;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpListener;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/**
 * Executes operations that are written as text, in two processes on one store, and returns the answers as text:
 * {@code A tries k exclusive 600000}. A number in place of the mode is a request with this number of permits.
 *
 * <p>Capital letters are callers, each with one lock id. They belong to the two processes in turn. Small letters are
 * keys. Times are in milliseconds. Starts and ends of leases are counted from the last empty line, and fences from the
 * clock are counted from the start of the script.
 */
final class AnswerScript implements AutoCloseable {

    private static final int LISTENING_SECONDS = 30;

    private final StoppedStore store;
    private final boolean keyed;
    private final List<StoreCalls> processes;
    private Instant began;

    /** The base from which fences are counted. */
    private final long firstFence;

    private Duration passed = Duration.ZERO;
    private final Set<String> queued = new HashSet<>();
    private final Map<Long, String> callers = new HashMap<>();
    private final Map<String, String> keys = new HashMap<>();
    private final BlockingQueue<String> received = new LinkedBlockingQueue<>();
    private final WakeUpListener engine = new WakeUpRecorder();

    /** Creates a script whose requests for leases and queue entries have the key beside the lock id. */
    AnswerScript(StoppedStore store) {
        this(store, true);
    }

    /** @param keyed whether requests for leases and queue entries have the key beside the lock id */
    AnswerScript(StoppedStore store, boolean keyed) {
        this.store = store;
        this.keyed = keyed;
        this.processes = List.of(new StoreCalls(store.newBackend()), new StoreCalls(store.newBackend()));
        processes.forEach(process -> process.connect(engine));
        AcquireRequest clock = Requests.exclusive("clock", lockId("clock"), Duration.ofMinutes(1), "clock");
        began = ((AcquireResult.Granted) processes.get(0).acquire(clock)).acquiredAt();
        firstFence = store.fences() == FenceSource.CLOCK ? began.toEpochMilli() * 100 : 0;
    }

    /** Executes one operation for each line. Replaces the text behind an equals sign by the answer. */
    String replay(String script) {
        return script.lines().map(line -> replayLine(line.split(" = ")[0])).collect(Collectors.joining("\n", "", "\n"));
    }

    /** The wake-ups that arrived but that no operation read, sorted. */
    List<String> leftOver() {
        return received.stream().sorted().toList();
    }

    @Override
    public void close() {
        processes.forEach(StoreCalls::close);
    }

    String replayLine(String operation) {
        if (operation.isEmpty()) {
            began = began.plus(passed);
            passed = Duration.ZERO;
        }
        if (operation.isEmpty() || operation.startsWith("#")) {
            return operation;
        }
        String answer = answer(operation.split(" "));
        return answer.isEmpty() ? operation : operation + " = " + answer;
    }

    private String answer(String[] words) {
        return switch (words[1]) {
            case "tries" -> attempt(words[0], request(words));
            case "waits" -> wait(words[0], request(words).waitingAs(number(words[0])));
            case "extend", "extends" -> extend(words[0].split(","), millis(words[2]));
            case "renew", "renews" -> renew(words[0].split(","));
            case "rotates" -> named(process(words[0]).rotate(extension(words[0], millis(words[2]))));
            case "releases" -> named(release(words));
            case "lease?" ->
                process(words[0]).lookupById(keyed(words[0])).map(this::named).orElse("none");
            case "leases?" ->
                processes.get(1).lookup(words[0]).stream().map(this::named).collect(Collectors.joining("; ", "", "."));
            case "locked?" -> processes.get(0).isLocked(words[0]) ? "yes" : "no";
            case "received" ->
                IntStream.range(0, Integer.parseInt(words[2]))
                        .mapToObj(i -> nextReceived())
                        .sorted()
                        .collect(Collectors.joining("; "));
            case "passes" -> {
                store.moveClock(millis(words[2]));
                passed = passed.plus(millis(words[2]));
                yield "";
            }
            case "loses" -> {
                store.loseCounter(words[0]);
                yield "";
            }
            case "swept" -> {
                store.sweep(words[0]);
                yield "";
            }
            default -> throw new IllegalArgumentException(String.join(" ", words));
        };
    }

    private AcquireRequest request(String[] words) {
        if (keyed) {
            keys.put(words[0], words[2]);
        }
        boolean limited = Character.isDigit(words[3].charAt(0));
        return Requests.of(
                words[2],
                limited ? LockMode.SHARED : LockMode.valueOf(words[3].toUpperCase(Locale.ROOT)),
                limited ? Integer.parseInt(words[3]) : 0,
                lockId(words[0]),
                millis(words[4]),
                words[0],
                words.length > 5,
                queued.contains(words[0]),
                null);
    }

    private String wait(String caller, AcquireRequest request) {
        callers.put(request.waiterNumber(), caller);
        String answer = attempt(caller, request);
        if (answer.startsWith("queued")) {
            queued.add(caller);
            Awaitility.await()
                    .atMost(Duration.ofSeconds(LISTENING_SECONDS))
                    .pollInterval(Duration.ofMillis(2))
                    .until(process(caller)::isConnected);
        }
        return answer;
    }

    private String attempt(String caller, AcquireRequest request) {
        AcquireResult attempt = process(caller).acquire(request);
        if (attempt instanceof AcquireResult.Granted grant) {
            return named(grant);
        }
        if (attempt instanceof AcquireResult.Refused refusal) {
            return "refused for " + refusal.timeLeft().toMillis() + named(refusal.holder());
        }
        AcquireResult.Queued queued = (AcquireResult.Queued) attempt;
        return "queued, looks after " + queued.nextLook().toMillis() + named(queued.holder());
    }

    /** Delivers a hand-over in the answer like one from a message. */
    private ReleaseResult release(String[] words) {
        KeyedLockId id = keyed(words[0]);
        ReleaseResult answer = words.length == 2
                ? process(words[0]).release(id)
                : process(words[0]).releaseAfter(id, millis(words[3]));
        answer.handOvers().forEach(handOver -> engine.handOver(handOver.waiterNumber(), handOver.grant()));
        return answer;
    }

    private KeyedLockId keyed(String caller) {
        return new KeyedLockId(keys.get(caller), lockId(caller));
    }

    private ExtendRequest extension(String caller, Duration ttl) {
        return Requests.extension(keys.get(caller), lockId(caller), ttl);
    }

    private String extend(String[] callers, Duration ttl) {
        List<ExtendRequest> extensions =
                Stream.of(callers).map(caller -> extension(caller, ttl)).toList();
        return process(callers[0]).extendAll(extensions).stream()
                .map(this::named)
                .collect(Collectors.joining("; "));
    }

    private String renew(String[] callers) {
        return process(callers[0])
                .renewWaiters(Stream.of(callers).map(this::keyed).toList())
                .stream()
                .map(look -> "looks after " + look.toMillis())
                .collect(Collectors.joining("; "));
    }

    private String nextReceived() {
        try {
            return String.valueOf(received.poll(LISTENING_SECONDS, TimeUnit.SECONDS));
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private String named(AcquireResult.Granted grant) {
        return "granted with fence " + number(grant.fence()) + " from " + since(grant.acquiredAt()) + " until "
                + since(grant.expiresAt());
    }

    private String named(ExtendResult outcome) {
        if (outcome instanceof ExtendResult.Rotated rotated) {
            return "fence " + number(rotated.fence()) + " until " + since(rotated.expiresAt());
        }
        return outcome instanceof ExtendResult.Extended extended
                ? "until " + since(extended.expiresAt())
                : outcome.getClass().getSimpleName();
    }

    private String named(RawLockInfo lease) {
        return lease.owner() + " " + lease.mode() + " " + lease.key() + " with fence " + number(lease.fence())
                + " from " + since(lease.acquiredAt()) + " until " + since(lease.expiresAt());
    }

    /** If two readers end at the same time, either may be reported. */
    private String named(AcquireResult.@Nullable Holder holder) {
        if (holder == null) {
            return "";
        }
        return holder.onlyHolder()
                ? ", held by " + holder.owner() + " since " + since(holder.since())
                : ", held by several";
    }

    private static String named(ReleaseResult outcome) {
        return outcome.outcome().name();
    }

    private long number(Fence fence) {
        return fence.value() - firstFence;
    }

    private long since(Instant time) {
        return Duration.between(began, time).toMillis();
    }

    private StoreCalls process(String caller) {
        return processes.get((int) (number(caller) + 1) % 2);
    }

    /** A is the first; A27 is the caller with number 27. */
    private static long number(String caller) {
        return caller.length() == 1 ? caller.charAt(0) - 'A' + 1 : Long.parseLong(caller.substring(1));
    }

    private static String lockId(String caller) {
        return caller + "-".repeat(22 - caller.length());
    }

    private static Duration millis(String millis) {
        return Duration.ofMillis(Long.parseLong(millis));
    }

    /** Receives the wake-ups of either process. */
    private final class WakeUpRecorder implements WakeUpListener {

        @Override
        public void wake(long waiter) {
            received.add(callers.get(waiter) + " looks");
        }

        @Override
        public void handOver(long waiter, AcquireResult.Granted grant) {
            received.add(callers.get(waiter) + " is " + named(grant));
        }

        @Override
        public void wakeUpsMissed() {}
    }
}
