package io.syncguard.verification.matrix;

import io.syncguard.LockTemplate;
import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.postgres.PostgresLockBackend;
import io.syncguard.spi.LockBackend;
import io.syncguard.verification.WorkerProcess;
import io.syncguard.verification.bugs.Bug;
import io.syncguard.verification.matrix.Call.Kind;
import io.syncguard.verification.recording.Recording;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;

/** A process of the matrix: an ordinary application, whose clients work until it ends. It reads commands as lines. */
public final class Shop {

    /** Interrupts clients for this number of milliseconds. */
    static final String INTERRUPT = "interrupt";

    /** Uses all connections of the application's pool for this number of milliseconds. */
    static final String EXHAUST = "exhaust";

    /** Keeps all processors busy for this number of milliseconds. */
    static final String SPIN = "spin";

    /** Ends the clients. */
    static final String REST = "rest";

    /** Writes the resource use of the process to a file. */
    static final String MEASURE = "measure";

    /** Ends the clients and then the application. */
    static final String END = "end";

    /** Begins a line of the output with the library's threads that outlive the application. */
    static final String LEFT = "left behind: ";

    private static final long MILLI = 1_000_000;
    private static final int SPINNERS = 8;
    /** The property with the URL of the locks, if they are in MariaDB and the database of the application elsewhere. */
    static final String MARIADB = "shop.mariadb";

    private static final int STARTS = 10;

    /** The application does not wait for its threads, but they must end within this time. */
    private static final long PATIENCE_NANOS = 5_000_000_000L;

    private final ConfigurableApplicationContext application;
    private final List<Thread> clients = new ArrayList<>();
    private volatile boolean ended;

    private Shop(ConfigurableApplicationContext application, Recording recording, CallLog log, Random random) {
        this.application = application;
        Environment environment = application.getEnvironment();
        List<Kind> kinds = Stream.of(
                        environment.getRequiredProperty("shop.kinds").split(","))
                .map(Kind::valueOf)
                .toList();
        application.addApplicationListener((ApplicationListener<ContextClosedEvent>) event -> ended = true);
        for (int i = 0; i < environment.getRequiredProperty("shop.clients", Integer.class); i++) {
            clients.add(new Thread(
                    new ShopClient(
                            application.getBean(Orders.class),
                            application.getBean(LockTemplate.class),
                            recording,
                            log,
                            kinds,
                            environment.getRequiredProperty("shop.wait-millis", Long.class),
                            environment.getRequiredProperty("shop.names", Integer.class),
                            new Random(random.nextLong()),
                            () -> !ended),
                    "client-" + i));
        }
    }

    /** @param arguments name, history file, file of the calls, seed, and properties of the application */
    public static void main(String[] arguments) throws Exception {
        Recording recording = new Recording(arguments[0], Path.of(arguments[1]));
        CallLog log = new CallLog(arguments[0], Path.of(arguments[2]));
        Random random = new Random(Long.parseLong(arguments[3]));
        ConfigurableApplicationContext application = start(arguments, recording);
        Shop shop = new Shop(application, recording, log, random);
        System.out.println(WorkerProcess.READY + System.nanoTime());
        shop.clients.forEach(Thread::start);
        shop.obey(new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII)), random);
        System.exit(0);
    }

    /** Several processes start at once, so the first connections may take longer than the network timeout. */
    private static ConfigurableApplicationContext start(String[] arguments, Recording recording) {
        for (int tries = 1; ; tries++) {
            try {
                return startOnce(arguments, recording);
            } catch (BeansException ex) {
                if (tries == STARTS) {
                    throw ex;
                }
            }
        }
    }

    private static ConfigurableApplicationContext startOnce(String[] arguments, Recording recording) {
        return new SpringApplicationBuilder(Application.class)
                .properties(
                        "spring.main.web-application-type=none",
                        "spring.main.banner-mode=off",
                        // A start that is repeated is no complaint; the last one throws.
                        "logging.level.org.springframework.boot.diagnostics.LoggingFailureAnalysisReporter=off",
                        // The test treats all other output as a complaint.
                        "logging.level.root=off",
                        "logging.level.org.springframework.boot=error",
                        "logging.level.io.syncguard=error",
                        "spring.flyway.enabled=false",
                        "spring.datasource.hikari.maximum-pool-size=8",
                        "spring.datasource.hikari.connection-timeout=2000",
                        "spring.datasource.hikari.initialization-fail-timeout=30000",
                        "spring.datasource.hikari.data-source-properties.socketTimeout=4",
                        "syncguard.fencing.enabled=true",
                        "spring.application.name=" + arguments[0])
                .properties(List.of(arguments).subList(4, arguments.length).toArray(String[]::new))
                .initializers(context -> {
                    Bug bug = Bug.of(context.getEnvironment());
                    String url = context.getEnvironment().getProperty(MARIADB);
                    if (url != null) {
                        ((GenericApplicationContext) context)
                                .registerBean(
                                        LockBackend.class,
                                        () -> ApplicationBackend.on(
                                                url, 8, Duration.ofMillis(Site.NETWORK_TIMEOUT_MILLIS)));
                    }
                    context.getBeanFactory().addBeanPostProcessor(guards(bug, context.getBeanFactory()));
                    context.getBeanFactory()
                            .addBeanPostProcessor(bug.around(recording::backend, context.getBeanFactory()));
                    context.getBeanFactory().registerSingleton("losses", recording.losses());
                    context.getBeanFactory().registerSingleton("grants", ShopClient.grants());
                })
                .run();
    }

    /** Sets the guard of commits: the library does not find it behind the recorded backend. */
    private static BeanPostProcessor guards(Bug bug, ConfigurableListableBeanFactory beans) {
        return new BeanPostProcessor() {
            @Override
            public Object postProcessAfterInitialization(Object bean, String name) {
                if (bean instanceof PostgresLockBackend backend) {
                    beans.registerSingleton("guards", bug.transactions(backend));
                }
                return bean;
            }
        };
    }

    private void obey(BufferedReader commands, Random random) throws Exception {
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case INTERRUPT -> interrupt(end(words), random);
                case EXHAUST -> exhaust(Long.parseLong(words[1]));
                case SPIN -> spin(end(words));
                case MEASURE ->
                    Gauges.write(Path.of(application.getEnvironment().getRequiredProperty("shop.gauges")));
                case REST -> rest();
                case END -> {
                    end();
                    return;
                }
                default -> throw new IllegalArgumentException(line);
            }
        }
    }

    private static long end(String[] words) {
        return System.nanoTime() + Long.parseLong(words[1]) * MILLI;
    }

    private void interrupt(long until, Random random) {
        while (System.nanoTime() < until) {
            clients.get(random.nextInt(clients.size())).interrupt();
            LockSupport.parkNanos(random.nextLong(5 * MILLI));
        }
    }

    private void exhaust(long millis) throws Exception {
        DataSource pool = application.getBean(DataSource.class);
        List<Connection> taken = new ArrayList<>();
        try {
            for (int i = 0; i < 8; i++) {
                taken.add(pool.getConnection());
            }
            LockSupport.parkNanos(millis * MILLI);
        } catch (SQLException ex) {
            // The clients use the rest of the time.
            LockSupport.parkNanos(millis * MILLI);
        } finally {
            for (Connection each : taken) {
                each.close();
            }
        }
    }

    private static void spin(long until) throws InterruptedException {
        List<Thread> spinners = Stream.generate(() -> new Thread(() -> {
                    while (System.nanoTime() < until) {
                        Thread.onSpinWait();
                    }
                }))
                .limit(SPINNERS)
                .toList();
        spinners.forEach(Thread::start);
        for (Thread each : spinners) {
            each.join();
        }
    }

    private void rest() throws InterruptedException {
        ended = true;
        for (Thread client : clients) {
            client.join();
        }
    }

    private void end() throws InterruptedException {
        rest();
        application.close();
        long patience = System.nanoTime() + PATIENCE_NANOS;
        while (!threadsOfLibrary().isEmpty() && System.nanoTime() < patience) {
            LockSupport.parkNanos(MILLI);
        }
        if (!threadsOfLibrary().isEmpty()) {
            System.out.println(LEFT + threadsOfLibrary());
        }
    }

    private static List<String> threadsOfLibrary() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("syncguard"))
                .toList();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Orders.class)
    static class Application {

        Application(JdbcTemplate jdbc) {
            // Initialises the classes of the driver.
            jdbc.execute("SELECT 1");
        }
    }
}
