package io.syncguard.benchmarks;

import io.syncguard.LockHandles;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * One process holds very many leases over a slow link: how many it loses, on PostgreSQL and on Redis.
 *
 * <p>Arguments: leases (100000), ttl in seconds (30), delay of each answer in milliseconds (50), seconds (120).
 */
public final class ManyLeases {

    /** One call may acquire as many. */
    private static final int TOGETHER = 1000;

    private ManyLeases() {}

    /** Runs the measurement and prints the results. */
    public static void main(String[] args) throws Exception {
        int leases = argument(args, 0, 100_000);
        Duration ttl = Duration.ofSeconds(argument(args, 1, 30));
        Duration delay = Duration.ofMillis(argument(args, 2, 50));
        int seconds = argument(args, 3, 120);
        for (Store store : Store.values()) {
            try (Server server = store.start()) {
                URI url = URI.create(server.newDatabase(Peer.SYNCGUARD).replace("jdbc:", ""));
                try (SlowLink link = new SlowLink(url);
                        ConfigurableApplicationContext application = application(store, url, link)) {
                    List<LockHandles> held = acquire(application.getBean(LockManager.class), leases, ttl);
                    link.delayAnswers(delay);
                    TimeUnit.SECONDS.sleep(seconds);
                    long lost = held.stream()
                            .flatMap(together -> together.all().stream())
                            .filter(handle -> !handle.isHeld())
                            .count();
                    System.out.printf(
                            Locale.ROOT,
                            "%s: %d leases of %d s, answers after %d ms, %d s: %d lost%n",
                            store.label(),
                            leases,
                            ttl.toSeconds(),
                            delay.toMillis(),
                            seconds,
                            lost);
                    link.delayAnswers(Duration.ZERO);
                    held.forEach(LockHandles::close);
                }
            }
        }
    }

    private static int argument(String[] args, int number, int otherwise) {
        return args.length > number ? Integer.parseInt(args[number]) : otherwise;
    }

    private static ConfigurableApplicationContext application(Store store, URI url, SlowLink link) {
        String slow = url.toString().replace(":" + url.getPort(), ":" + link.port());
        return store == Store.POSTGRES
                ? Bench.applicationWithDefaults("jdbc:" + slow)
                : Bench.redisApplicationWithDefaults(slow);
    }

    private static List<LockHandles> acquire(LockManager locks, int leases, Duration ttl) {
        List<LockHandles> held = new ArrayList<>();
        for (int from = 0; from < leases; from += TOGETHER) {
            List<LockRequest> requests = IntStream.range(from, Math.min(leases, from + TOGETHER))
                    .mapToObj(i -> LockRequest.of("lease-" + i).ttl(ttl))
                    .toList();
            held.add(locks.acquire(requests));
        }
        return held;
    }
}
