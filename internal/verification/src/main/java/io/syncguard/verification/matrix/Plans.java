package io.syncguard.verification.matrix;

import io.syncguard.verification.matrix.Fleet.Load;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** All campaigns of the matrix. */
final class Plans {

    /** Rules that cannot hold if the server forgets grants. Fences still grow, and guarded effects keep their order. */
    private static final Set<String> OF_REMEMBERED_GRANTS = Set.of(
            "DEADLINE",
            "HAND_OVER",
            "JUSTIFIED_REFUSAL",
            "NEIGHBOURS",
            "NEWCOMERS_YIELD",
            "NOTHING_VANISHES",
            "ONE_HOLDER",
            "ONE_LIVE_GRANT",
            "ORDER_OF_ARRIVAL",
            "OVER_IS_OVER",
            "PERMITS",
            "SAME_GRANT");

    /** Rules that cannot hold if a clock jumps. FENCES is one: its check compares the server's times of grants. */
    private static final Set<String> OF_STEADY_CLOCKS =
            Stream.concat(OF_REMEMBERED_GRANTS.stream(), Stream.of("FENCES")).collect(Collectors.toSet());

    private static final String FORGETS = "the server forgets grants: docs/failover.md, \"Redis\"";

    private static final String STEPS =
            "leases are times of the server's clock: docs/guarantees.md, \"What is not promised\"";

    private static final String TAIL =
            "an asynchronous standby lacks the last grants: docs/guarantees.md, \"What is not promised\"";

    private static final String[] DURABLE = {"appendonly yes", "appendfsync always"};

    private static final List<String> ROLE = List.of(
            "default_transaction_isolation = 'serializable'",
            "statement_timeout = 50",
            "lock_timeout = 50",
            "synchronous_commit = off");

    static final List<Plan<?>> ALL = List.of(
            Plan.of("postgres", () -> new PostgresSite(3), Plans::onPostgres),
            Plan.of("postgres-package", Plans::packagedPostgres, Plans::onPostgres),
            Plan.of(
                    "postgres-role",
                    () -> new PostgresSite(3, null, Map.of(), ROLE),
                    (site, fleet, load) -> PostgresServerFaults.standing(site)),
            Plan.of(
                    "postgres-pooler",
                    () -> new PoolerSite(3),
                    (site, fleet, load) -> all(Stream.of(
                            new LinkFaults(site.links(), load).all(),
                            new PostgresServerFaults(site.behind()).behindPooler()))),
            Plan.of(
                    "postgres-disk",
                    () -> new PostgresSite(3),
                    (site, fleet, load) -> List.of(new PostgresServerFaults(site).fullDisk(site.smallDisk()))),
            Plan.of(
                            "postgres-clock",
                            () -> new PostgresSite(3),
                            (site, fleet, load) -> List.of(Clocks.ofDatabase(site.applications())))
                    .butNot(OF_STEADY_CLOCKS, STEPS),
            Plan.of(
                    "postgres-standby",
                    () -> new StandbySite(3, true),
                    (site, fleet, load) -> List.of(site.promotion())),
            Plan.of(
                            "postgres-standby-forgets",
                            () -> new StandbySite(3, false),
                            (site, fleet, load) -> List.of(site.promotion()))
                    .butNot(OF_REMEMBERED_GRANTS, TAIL),
            Plan.of(
                            "postgres-hand-over",
                            () -> new PostgresSite(3),
                            (site, fleet, load) -> all(Stream.of(
                                    new ProcessFaults(fleet, load).all(), new PostgresServerFaults(site).all())))
                    .with(Load.OF_HAND_OVERS),
            Plan.of("redis", () -> new RedisSite(3, DURABLE), Plans::onRedis),
            Plan.of(
                            "redis-hand-over",
                            () -> new RedisSite(3, DURABLE),
                            (site, fleet, load) -> all(Stream.of(
                                    new ProcessFaults(fleet, load).all(), new RedisServerFaults(site).lossless())))
                    .with(Load.OF_HAND_OVERS),
            Plan.of("redis-package", Plans::packagedRedis, Plans::onRedis),
            Plan.of("mariadb", () -> new MariaDbSite(3), Plans::onMariaDb),
            Plan.of(
                    "mariadb-disk",
                    () -> new MariaDbSite(3),
                    (site, fleet, load) -> List.of(new MariaDbServerFaults(site).fullDisk(site.smallDisk()))),
            forgetful("redis-forgets", "appendonly no"),
            forgetful("redis-forgets-rdb", "save 1 1"),
            forgetful("redis-forgets-everysec", "appendonly yes", "appendfsync everysec"),
            Plan.of(
                    "redis-cluster",
                    RedisClusterSite::new,
                    (site, fleet, load) -> List.of(new RedisClusterFaults(site).handOver())),
            Plan.of(
                            "redis-cluster-forgets",
                            RedisClusterSite::new,
                            (site, fleet, load) -> List.of(new RedisClusterFaults(site).kill()))
                    .butNot(OF_REMEMBERED_GRANTS, FORGETS),
            Plan.of("redis-sentinel-forgets", RedisSentinelSite::new, (site, fleet, load) -> List.of(site.kill()))
                    .butNot(OF_REMEMBERED_GRANTS, FORGETS),
            Plan.of(
                            "redis-clock",
                            () -> RedisSite.withMovableClock(3, DURABLE),
                            (site, fleet, load) -> List.of(Clocks.ofRedis(site.redis())))
                    .butNot(OF_STEADY_CLOCKS, STEPS));

    /** The plans of a soak: two processes live all the time, and each key has sixteen names in turn. */
    static final List<Plan<?>> OF_SOAK = ALL.stream()
            .filter(plan -> Set.of("postgres", "redis").contains(plan.name()))
            .<Plan<?>>map(plan -> plan.with(Load.OF_SOAK))
            .toList();

    /** The plan of a usual build: a fault of each kind. The profile "verification" also runs the other stores. */
    static final List<Plan<?>> OF_BUILD = ALL.stream()
            .filter(plan -> plan.name().equals("postgres"))
            .<Plan<?>>map(plan -> plan.only(Pattern.compile("a process is killed"
                    + "|a process is paused after its check, and its commit comes late"
                    + "|an answer is lost after the server has acted")))
            .toList();

    /** The plans of the profile "verification": every fault of a single server, and the sites that start quickly. */
    static final List<Plan<?>> OF_VERIFICATION = ALL.stream()
            .filter(plan -> Set.of(
                            "postgres",
                            "postgres-role",
                            "postgres-disk",
                            "postgres-clock",
                            "postgres-standby",
                            "redis",
                            "redis-clock",
                            "mariadb",
                            "mariadb-disk")
                    .contains(plan.name()))
            .toList();

    private Plans() {}

    private static List<Fault> onPostgres(PostgresSite site, Fleet fleet, Load load) {
        ProcessFaults processes = new ProcessFaults(fleet, load);
        return all(Stream.of(
                processes.all(),
                processes.onLinks(site.links()),
                List.of(Fault.calm().everyNth(10)),
                new CommitFaults(fleet, site, load.ttlMillis()).all(),
                new LinkFaults(site.links(), load).all(),
                new PostgresServerFaults(site).all()));
    }

    private static List<Fault> onRedis(RedisSite site, Fleet fleet, Load load) {
        ProcessFaults processes = new ProcessFaults(fleet, load);
        return all(Stream.of(
                processes.all(),
                processes.onLinks(site.links()),
                List.of(Fault.calm().everyNth(10)),
                new LinkFaults(site.links(), load).all(),
                new RedisServerFaults(site).lossless()));
    }

    private static List<Fault> onMariaDb(MariaDbSite site, Fleet fleet, Load load) {
        ProcessFaults processes = new ProcessFaults(fleet, load);
        return all(Stream.of(
                processes.all(),
                processes.onLinks(site.links()),
                List.of(Fault.calm().everyNth(10)),
                new LinkFaults(site.links(), load).all(),
                new MariaDbServerFaults(site).all()));
    }

    private static Plan<RedisSite> forgetful(String name, String... persistence) {
        return Plan.of(
                        name,
                        () -> new RedisSite(3, persistence),
                        (site, fleet, load) -> new RedisServerFaults(site).losing())
                .butNot(OF_REMEMBERED_GRANTS, FORGETS);
    }

    /** The server of a Linux distribution, which has a JIT compiler. */
    private static PostgresSite packagedPostgres() {
        return new PostgresSite(3, Packages.postgres(), Map.of("jit", "on", "jit_above_cost", "0"), List.of());
    }

    private static RedisSite packagedRedis() {
        return new RedisSite(3, Packages.redis(), DURABLE);
    }

    private static List<Fault> all(Stream<List<Fault>> faults) {
        return faults.flatMap(List::stream).toList();
    }
}
