package io.syncguard.verification.queue;

import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.testing.ChildJvm;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A process whose callers queue on command: the main class of a {@link ChildJvm}. {@link #answer} lists its commands.
 * Keys and names have no blanks.
 */
public final class QueueProcess {

    /** Long, because several processes start at the same time. */
    private static final Duration NETWORK_TIMEOUT = Duration.ofSeconds(20);

    private final LockEngine locks;

    /** The held locks by the name of the caller. */
    private final Map<String, LockHandle> held = new ConcurrentHashMap<>();

    private final AtomicInteger streamed = new AtomicInteger();
    private final AtomicLong streamEnds = new AtomicLong();

    private QueueProcess(String url) {
        locks = locks(url);
    }

    /** The engine of such a process. The test uses one as well. */
    static LockEngine locks(String url) {
        return new LockEngine(
                ApplicationBackend.on(url, 8, NETWORK_TIMEOUT),
                DefaultSettings.of("test"),
                TransactionBoundary.NONE,
                List.of());
    }

    /** @param arguments the JDBC URL */
    public static void main(String[] arguments) throws IOException {
        QueueProcess process = new QueueProcess(arguments[0]);
        ChildJvm.serve(question -> process.answer(question.split(" ")));
    }

    private String answer(String[] words) {
        return switch (words[0]) {
            case "queue" -> queue(words[1], request(words[2], words[3]));
            case "try" -> tryOnce(request(words[1], words[2]));
            case "held" -> held();
            case "release" -> String.valueOf(held.remove(words[1]).release());
            case "hold" -> hold(words[1], Integer.parseInt(words[2]));
            case "alive" ->
                String.valueOf(held.values().stream().filter(LockHandle::isHeld).count());
            case "let-go" -> letGo();
            case "line-up" -> lineUp(request(words[1], "exclusive"), Integer.parseInt(words[2]));
            case "stream" ->
                stream(
                        request(words[1], words[2]),
                        Integer.parseInt(words[3]),
                        Duration.ofMillis(Long.parseLong(words[4])));
            case "streamed" -> String.valueOf(streamed.get());
            case "end" -> {
                streamEnds.set(System.nanoTime());
                yield "ended";
            }
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    private static LockRequest request(String key, String mode) {
        LockRequest request = LockRequest.of(key).waitTime(Duration.ofMinutes(1));
        return mode.equals("shared") ? request.shared() : request;
    }

    /** Starts a caller with this name. It waits, and holds the lock until a command releases it. */
    private String queue(String name, LockRequest request) {
        return start(() -> held.put(name, locks.acquire(request)));
    }

    private String tryOnce(LockRequest request) {
        LockHandle lock = locks.tryAcquire(request.waitTime(Duration.ZERO));
        if (lock == null) {
            return "refused";
        }
        lock.release();
        return "granted";
    }

    /** The holders, with their fences. */
    private String held() {
        return held.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue().fence().value())
                .sorted()
                .collect(Collectors.joining(" "));
    }

    /** Acquires and holds this number of locks, whose keys begin with the prefix. */
    private String hold(String prefix, int count) {
        IntStream.range(0, count).parallel().forEach(i -> {
            String key = prefix + i;
            held.put(key, locks.acquire(request(key, "exclusive")));
        });
        return "held";
    }

    private String letGo() {
        held.values().parallelStream().forEach(LockHandle::release);
        held.clear();
        return "released";
    }

    /** Starts this number of callers, which acquire the lock once and release it at once. */
    private String lineUp(LockRequest request, int callers) {
        streamed.set(0);
        for (int i = 0; i < callers; i++) {
            start(() -> {
                locks.acquire(request).release();
                streamed.incrementAndGet();
            });
        }
        return "started";
    }

    /** Starts this number of callers, which repeatedly acquire the lock and hold it for the time of the body. */
    private String stream(LockRequest request, int threads, Duration body) {
        streamed.set(0);
        streamEnds.set(Long.MAX_VALUE);
        for (int i = 0; i < threads; i++) {
            start(() -> {
                while (System.nanoTime() < streamEnds.get()) {
                    LockHandle lock = locks.acquire(request);
                    LockSupport.parkNanos(body.toNanos());
                    lock.release();
                    streamed.incrementAndGet();
                }
            });
        }
        return "started";
    }

    private static String start(Runnable work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (LockException ex) {
                        ex.printStackTrace();
                    }
                },
                "caller");
        thread.setDaemon(true);
        thread.start();
        return "started";
    }
}
