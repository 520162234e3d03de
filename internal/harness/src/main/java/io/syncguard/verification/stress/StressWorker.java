package io.syncguard.verification.stress;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.syncguard.Fence;
import io.syncguard.LockTemplate;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderMember;
import io.syncguard.testing.ThreadShortage;
import io.syncguard.verification.WorkerProcess;
import io.syncguard.verification.history.HistoryEvent;
import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.recording.HistoryRecorder;
import io.syncguard.verification.recording.KnownLockIds;
import io.syncguard.verification.recording.RecordedBackend;
import io.syncguard.verification.recording.Recording;
import io.syncguard.verification.recording.StressStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.springframework.beans.BeansException;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A process of the run: an application like that of a user, except for a shorter waiter ttl. Its clients work at
 * random, and one thread interrupts them.
 */
public final class StressWorker {

    private static final long BETWEEN_INTERRUPTS_NANOS = 100_000_000L;

    /** The pause between two interrupts in a storm. */
    private static final long BETWEEN_MANY_INTERRUPTS_NANOS = 5_000_000L;

    /** Half a second. Every fourth such period is a storm; in the others the clients make progress. */
    private static final long STRETCH_NANOS = 500_000_000L;

    private static final int STRETCHES = 4;

    private static final int STARTS = 5;

    static final Duration NETWORK_TIMEOUT = Duration.ofSeconds(4);

    /** The property with the name of an election in which the process takes part. */
    public static final String ELECTION = "stress.election";

    /** The property with the beginning of the names of the tables with data. Without data there is none. */
    public static final String DATA = "stress.data";

    private static final long BETWEEN_PROOFS_NANOS = 5_000_000;

    private StressWorker() {}

    /**
     * @param arguments name, URL of the locks, history file, seed, number of clients, the waiter ttl in milliseconds,
     *     and properties of the application. When the process is ready, it reads the {@link System#nanoTime} of its
     *     end from its input
     */
    public static void main(String[] arguments) throws Exception {
        HistoryRecorder recorder = new HistoryRecorder(arguments[0], Path.of(arguments[2]));
        KnownLockIds known = new KnownLockIds();
        Duration waiterTtl = Duration.ofMillis(Long.parseLong(arguments[5]));
        List<String> properties = new ArrayList<>(List.of(arguments).subList(6, arguments.length));
        properties.add("spring.application.name=" + arguments[0]);
        // The faults may terminate the first session.
        properties.add("spring.datasource.hikari.initialization-fail-timeout=30000");
        ConfigurableApplicationContext application = start(arguments[1], properties, waiterTtl, recorder, known);
        // Initialises the classes of the driver: a class whose initialiser fails for lack of a thread stays unusable.
        application.getBeanProvider(JdbcTemplate.class).ifAvailable(jdbc -> jdbc.execute("SELECT 1"));
        System.out.println(WorkerProcess.READY + System.nanoTime());
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, US_ASCII));
        long end = Long.parseLong(input.readLine());
        Thread reader = new Thread(() -> obey(input), "reader");
        reader.setDaemon(true);
        reader.start();
        work(
                application,
                arguments[1],
                recorder,
                known,
                new Random(Long.parseLong(arguments[3])),
                Integer.parseInt(arguments[4]),
                end);
        application.close();
        recorder.close();
    }

    private static void work(
            ConfigurableApplicationContext application,
            String url,
            HistoryRecorder recorder,
            KnownLockIds known,
            Random random,
            int clients,
            long end)
            throws InterruptedException {
        Environment environment = application.getEnvironment();
        String prefix = environment.getProperty(DATA, StressDatabase.PREFIX);
        // A run with tables of its own does not read those of the locks, either.
        StressStore store = prefix.equals(StressDatabase.PREFIX) ? StressStore.at(url, application) : null;
        JdbcTemplate jdbc = application.getBeanProvider(JdbcTemplate.class).getIfAvailable();
        observeElection(application, recorder);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            StressClient client = new StressClient(
                    application.getBean(LockTemplate.class),
                    application.getBeanProvider(TransactionTemplate.class).getIfAvailable(),
                    jdbc == null ? null : new StressDatabase(jdbc, prefix),
                    store,
                    recorder,
                    known,
                    StressClient.Habits.of(environment),
                    new Random(random.nextLong()),
                    end);
            Thread thread = new Thread(client, "client-" + i);
            thread.start();
            threads.add(thread);
        }
        while (System.nanoTime() < end) {
            boolean storm = System.nanoTime() / STRETCH_NANOS % STRETCHES == 0;
            LockSupport.parkNanos(storm ? BETWEEN_MANY_INTERRUPTS_NANOS : BETWEEN_INTERRUPTS_NANOS);
            interrupt(threads.get(random.nextInt(clients)), recorder);
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Records each fence under which this process leads, and that it still leads, until the process ends. */
    private static void observeElection(ConfigurableApplicationContext application, HistoryRecorder recorder) {
        String election = application.getEnvironment().getProperty(ELECTION);
        if (election == null) {
            return;
        }
        LeaderMember member = application.getBean(LeaderElection.class).member(election);
        Thread observer = new Thread(
                () -> {
                    long fence = 0;
                    for (int term = 0; ; LockSupport.parkNanos(BETWEEN_PROOFS_NANOS)) {
                        HistoryEvent asked = recorder.begin(Kind.LED, "leader", member.key(), "");
                        long now = member.fence().map(Fence::value).orElse(0L);
                        if (now > 0) {
                            term += now == fence ? 0 : 1;
                            fence = now;
                            recorder.write(asked.answered(System.nanoTime(), Outcome.OK)
                                    .with(Lease.ofFence(fence))
                                    .with(term));
                        }
                    }
                },
                "leader");
        observer.setDaemon(true);
        observer.start();
    }

    private static void interrupt(Thread client, HistoryRecorder recorder) {
        HistoryEvent interrupted = recorder.begin(Kind.INTERRUPTED, client.getName(), "", "");
        client.interrupt();
        recorder.write(interrupted.answered(System.nanoTime(), Outcome.OK));
    }

    /** Executes the commands of the test. */
    private static void obey(BufferedReader input) {
        try {
            ThreadShortage shortage = null;
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                if (line.equals(WorkerProcess.SHORT_OF_THREADS)) {
                    shortage = ThreadShortage.begin();
                } else if (shortage != null) {
                    shortage.end();
                }
            }
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Retries, because the first attempts may get no connection on a busy machine or while the proxy is silent. */
    private static ConfigurableApplicationContext start(
            String url, List<String> properties, Duration waiterTtl, HistoryRecorder recorder, KnownLockIds known) {
        for (int tries = 1; ; tries++) {
            try {
                return startOnce(url, properties, waiterTtl, recorder, known);
            } catch (BeansException ex) {
                if (tries == STARTS) {
                    throw ex;
                }
            }
        }
    }

    private static ConfigurableApplicationContext startOnce(
            String url, List<String> properties, Duration waiterTtl, HistoryRecorder recorder, KnownLockIds known) {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .registerShutdownHook(false)
                .properties(
                        "spring.main.banner-mode=off",
                        // The test treats all other output as a complaint.
                        "logging.level.root=off",
                        "logging.level.io.syncguard=error",
                        "spring.datasource.hikari.maximum-pool-size=8",
                        "spring.datasource.hikari.connection-timeout=2000",
                        "spring.datasource.hikari.data-source-properties.socketTimeout=5",
                        "spring.flyway.enabled=false",
                        "syncguard.postgres.network-timeout=" + NETWORK_TIMEOUT.toSeconds() + "s",
                        "syncguard.redis.network-timeout=" + NETWORK_TIMEOUT.toSeconds() + "s",
                        "syncguard.shutdown-timeout=1s")
                .properties(properties.toArray(String[]::new))
                .initializers(context -> {
                    WorkerChange.find()
                            .apply(
                                    (GenericApplicationContext) context,
                                    url,
                                    waiterTtl,
                                    store -> new RecordedBackend(store, recorder, known));
                    context.getBeanFactory().registerSingleton("lossRecorder", Recording.losses(recorder));
                })
                .run();
    }

    /** Only the auto-configuration of Spring Boot and the library. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
