package io.syncguard.benchmarks;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockMode;
import io.syncguard.LockQuery;
import io.syncguard.batching.BatchingBackend;
import io.syncguard.concurrent.Time;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.redis.RedisLockBackend;
import io.syncguard.redis.RedisSettings;
import io.syncguard.spi.AcquireOptions;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.Answers;
import io.syncguard.spi.GrantExtent;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The cost of a list of all locks for other callers, on a Redis with many other keys: pairs of acquire and release per
 * second while another process lists all the time, and without it, in interleaved rounds.
 *
 * <p>Arguments: other keys (3000000), rounds (9), seconds per measurement (4).
 */
public final class ListCosts {

    private static final AcquireOptions OPTIONS =
            new AcquireOptions(LockMode.EXCLUSIVE, 0, Duration.ofMinutes(1), "benchmark", false);

    private static final AtomicLong LOCK_IDS = new AtomicLong();

    private ListCosts() {}

    /** Runs the measurement and prints the results. */
    public static void main(String[] args) throws Exception {
        String others = args.length > 0 ? args[0] : "3000000";
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 9;
        Duration duration = Duration.ofSeconds(args.length > 2 ? Integer.parseInt(args[2]) : 4);
        try (OwnRedis redis = new OwnRedis();
                LockBackend callers = open(redis);
                LockBackend lister = open(redis)) {
            redis.commands()
                    .dispatch(
                            CommandType.DEBUG,
                            new StatusOutput<>(StringCodec.UTF8),
                            new CommandArgs<>(StringCodec.UTF8).add("POPULATE").add(others));
            for (int threads : new int[] {1, 16}) {
                compare(callers, lister, threads, rounds, duration);
            }
        }
    }

    private static void compare(LockBackend callers, LockBackend lister, int threads, int rounds, Duration duration)
            throws Exception {
        List<Double> alone = new ArrayList<>();
        List<Double> beside = new ArrayList<>();
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round <= rounds; round++) {
            double with = 0;
            double without = 0;
            for (int half = 0; half < 2; half++) {
                if (half == round % 2) {
                    with = besideAList(callers, lister, threads, duration);
                } else {
                    without = alone(callers, threads, duration);
                }
            }
            if (round > 0) { // The first round only warms up.
                beside.add(with);
                alone.add(without);
                ratios.add(with / without);
            }
        }
        System.out.println(threads + " thread(s)");
        System.out.println(Bench.line("  pairs/s beside a list", beside));
        System.out.println(Bench.line("  pairs/s alone", alone));
        System.out.println(Bench.line("  ratio", ratios));
    }

    private static double besideAList(LockBackend callers, LockBackend lister, int threads, Duration duration)
            throws Exception {
        Thread thread = new Thread(() -> listUntilInterrupted(lister), "lister");
        thread.start();
        try {
            return alone(callers, threads, duration);
        } finally {
            thread.interrupt();
            thread.join();
        }
    }

    private static void listUntilInterrupted(LockBackend lister) {
        try {
            while (!Thread.currentThread().isInterrupted()) {
                lister.directory().list(LockQuery.all());
            }
        } catch (LockBackendException ex) {
            if (ex.code() != LockErrorCode.ABORTED) {
                throw ex;
            }
        }
    }

    private static double alone(LockBackend callers, int threads, Duration duration) throws Exception {
        return Bench.perSecond(threads, duration, (thread, count) -> pair(callers, "key-" + thread + "-" + count));
    }

    private static void pair(LockBackend backend, String key) {
        String lockId = backend.lockIdFor(key, String.format(Locale.ROOT, "%022d", LOCK_IDS.incrementAndGet()));
        AcquireRequest request = new AcquireRequest(key, lockId, OPTIONS);
        Answers.await(() -> backend.acquire(List.of(request), GrantExtent.ONE));
        Answers.await(() -> backend.release(List.of(ReleaseRequest.handingOver(request.keyedLockId()))));
    }

    private static LockBackend open(OwnRedis redis) {
        RedisLockBackend store = new RedisLockBackend(
                new LettuceConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", redis.port())),
                new RedisSettings(RedisSettings.KEY_PREFIX, Duration.ofSeconds(5), RedisSettings.WAITER_TTL));
        return BatchingBackend.of(store, Time.SYSTEM);
    }
}
