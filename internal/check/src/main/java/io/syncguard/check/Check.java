package io.syncguard.check;

import io.lettuce.core.RedisCommandExecutionException;
import io.syncguard.check.Finding.Part;
import io.syncguard.verification.StressSettings;
import io.syncguard.verification.stress.StressWorker;
import java.io.BufferedReader;
import java.io.Console;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertPathBuilderException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.SpringBootVersion;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command. Its exit status is 0, 1 if a promise is broken, or 2 if the check could not run. */
@Command(
        name = "syncguard-check",
        mixinStandardHelpOptions = true,
        versionProvider = Check.Version.class,
        showDefaultValues = true,
        description =
                "Tells whether SyncGuard keeps its promises on your server. It reads only, unless you let it write:"
                        + " then it makes a schema or a prefix of its own, and removes it at the end.")
public final class Check implements Callable<Integer> {

    private static final int COULD_NOT_RUN = 2;

    private static final int WRITES = 200;

    /** The load needs this time, even if the contract took all of it. */
    private static final long LEAST_SECONDS = 20;

    /** A person needs this time to restart a server, and the load some after it. */
    private static final long LEAST_SECONDS_WITH_RESTART = 120;

    @Spec
    private @Nullable CommandSpec spec;

    @Parameters(
            paramLabel = "ADDRESS",
            showDefaultValue = Visibility.NEVER,
            description = "jdbc:postgresql://host/db?user=app, redis://host:6379, ...")
    private String address = "";

    @Option(names = "--minutes", paramLabel = "N", description = "Time of the check")
    private int minutes = 5;

    @Option(
            names = "--user",
            paramLabel = "NAME",
            showDefaultValue = Visibility.NEVER,
            description = "The user, if the address has none")
    private String user = "";

    @Option(
            names = "--password",
            arity = "0..1",
            interactive = true,
            description = "Asks for the password. The environment variable SYNCGUARD_PASSWORD has it otherwise")
    private char @Nullable [] password;

    @Option(names = "--write", description = "Writes without a question")
    private boolean write;

    @Option(names = "--look", description = "Looks at the server, and does nothing else")
    private boolean look;

    @Option(names = "--restart", description = "Waits under load while you restart the server or let it fail over")
    private boolean restart;

    @Option(names = "--report", paramLabel = "FILE", description = "Writes FILE.html, FILE.json and FILE.txt")
    private Path report = Path.of("syncguard-check");

    @Option(
            names = "--seed",
            paramLabel = "N",
            showDefaultValue = Visibility.NEVER,
            description = "Repeats the random choices of a run, which its report has")
    private long seed = new Random().nextInt(Integer.MAX_VALUE);

    /** More settings of the workers, such as a planted bug. */
    @Option(names = "--worker-setting", hidden = true)
    private List<String> workerSettings = new ArrayList<>();

    private final Map<String, String> facts = new LinkedHashMap<>();
    private final List<Finding> findings = new ArrayList<>();
    private final Map<String, String> times = new LinkedHashMap<>();
    private boolean failed;

    /** Removes what the check has made so far. */
    private volatile Runnable removal = () -> {};

    /** @param arguments see {@code --help}. A worker's main class comes first in the processes of a check */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0 && arguments[0].equals(StressWorker.class.getName())) {
            StressWorker.main(Arrays.copyOfRange(arguments, 1, arguments.length));
            return;
        }
        System.setProperty("logback.configurationFile", "logback-check.xml");
        if (Check.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toString()
                .startsWith("jar:nested:")) {
            System.setProperty("syncguard.launcher", "org.springframework.boot.loader.launch.JarLauncher");
        }
        System.exit(run(arguments));
    }

    /** Runs a check, and returns its exit status. */
    static int run(String... arguments) {
        try {
            return new CommandLine(new Check())
                    .setExecutionExceptionHandler((failure, command, parsed) -> couldNotRun(failure))
                    .execute(arguments);
        } catch (Error ex) {
            return couldNotRun(ex);
        }
    }

    private static int couldNotRun(Throwable failure) {
        System.err.println("The check could not run: " + reason(failure));
        return COULD_NOT_RUN;
    }

    /** The first cause, and the next step if the cause does not name it. */
    static String reason(Throwable failure) {
        Throwable cause = failure;
        String step = nextStep(cause);
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
            step += nextStep(cause);
        }
        return (cause.getMessage() == null ? cause.toString() : cause.getMessage()) + step;
    }

    private static String nextStep(Throwable cause) {
        String message = String.valueOf(cause.getMessage());
        if (cause instanceof CertPathBuilderException) {
            return ". Trust the certificate of the server: -Djavax.net.ssl.trustStore=FILE before -jar";
        }
        if (message.startsWith("Could not open SSL root certificate file")) {
            return ". Add sslrootcert=FILE to the address, with the certificate of the server or of its issuer";
        }
        if (cause instanceof RedisCommandExecutionException && message.startsWith("NOPERM")) {
            return ". Grant it with ACL SETUSER, and the other commands under \"Rights on Redis\" in docs/security.md";
        }
        return "";
    }

    /** A new name for a schema, tables or keys of this tool. */
    static String newName() {
        return "syncguard_check_" + UUID.randomUUID().toString().substring(0, 8);
    }

    @Override
    public Integer call() throws Exception {
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        if (minutes < 1) {
            throw new CommandLine.ParameterException(spec.commandLine(), "--minutes has to be at least 1");
        }
        Path folder = report.toAbsolutePath().getParent();
        if (!Files.isWritable(folder)) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), "--report: " + folder + " is no folder that can be written to");
        }
        long end = System.nanoTime() + Duration.ofMinutes(minutes).toNanos();
        List<String> secrets;
        try (Server server = Address.connect(address, user, secret())) {
            secrets = server.secrets();
            facts.put("server", server.product());
            facts.put("check", new Version().getVersion()[0]);
            facts.put("began", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
            facts.put("seed", String.valueOf(seed));
            out.println(Part.LOOK.title());
            add(server.look(), out);
            if (!look && (write || mayWrite(out))) {
                checkWith(server, end, out);
            } else {
                add(
                        List.of(
                                Finding.notTried(Part.CONTRACT, "all rules", "the check only looked"),
                                Finding.notTried(Part.LOAD, "all promises", "the check only looked")),
                        out);
            }
        } catch (IllegalArgumentException ex) {
            throw new CommandLine.ParameterException(spec.commandLine(), ex.getMessage());
        }
        Report result = new Report(facts, findings, times).without(secrets);
        result.write(report);
        out.println(result.summary());
        out.println("The report is in " + report + ".html, .json and .txt");
        return failed ? COULD_NOT_RUN : result.isBroken() ? 1 : 0;
    }

    private String secret() {
        String variable = System.getenv("SYNCGUARD_PASSWORD");
        return password != null ? new String(password) : variable == null ? "" : variable;
    }

    private static boolean mayWrite(PrintWriter out) {
        Console console = System.console();
        if (console == null) {
            out.println("It does not write, because nobody can be asked. --write lets it.");
            return false;
        }
        String answer = console.readLine("May it make and remove a schema or keys named syncguard_check_...? [y/N] ");
        return answer != null && answer.strip().toLowerCase(Locale.ROOT).startsWith("y");
    }

    private void checkWith(Server server, long end, PrintWriter out) {
        Thread atExit = new Thread(
                () -> {
                    // Otherwise a step would write what was just removed.
                    Writing.stop();
                    removal.run();
                },
                "remove-area");
        Runtime.getRuntime().addShutdownHook(atExit);
        try {
            checkInArea(server, end, out);
        } finally {
            Writing.begin();
            removal.run();
            removal = () -> {};
            Writing.end();
            try {
                Runtime.getRuntime().removeShutdownHook(atExit);
            } catch (IllegalStateException ex) {
                // It runs, and has nothing to do.
            }
        }
    }

    private void checkInArea(Server server, long end, PrintWriter out) {
        Area area;
        Writing.begin();
        try {
            area = server.newArea();
            removal = () -> remove(area, out);
        } catch (RuntimeException ex) {
            cannotWrite(server, ex, out);
            return;
        } finally {
            Writing.end();
        }
        LoadRun load = new LoadRun(area, restart ? () -> awaitRestart(out) : null, out, workerSettings);
        removal = () -> {
            load.close();
            remove(area, out);
        };
        out.println("It writes to " + area.leftovers() + " and removes that at the end, also after Ctrl-C");
        try (ClockWatch clock = new ClockWatch(server::clockMillis)) {
            clock.start();
            Writing.begin();
            run(Part.LOOK, out, () -> {
                add(List.of(repeats(area)), out);
                times.putAll(Times.measure(server, area));
            });
            Writing.end();
            out.println(Part.CONTRACT.title());
            run(
                    Part.CONTRACT,
                    out,
                    () -> add(ContractRun.run(area.contractStore(), server.deliversWakeUps(), out), out));
            long seconds = Math.max(
                    restart ? LEAST_SECONDS_WITH_RESTART : LEAST_SECONDS, (end - System.nanoTime()) / 1_000_000_000);
            out.println(Part.LOAD.title() + ", for " + seconds + " s");
            run(Part.LOAD, out, () -> {
                Path directory = Files.createTempDirectory("syncguard-check-");
                add(load.run(new StressSettings(seed, (int) seconds, 3, 4), directory), out);
                facts.put("load", load.happened());
            });
            add(List.of(clock.finding()), out);
        }
    }

    private void cannotWrite(Server server, RuntimeException failure, PrintWriter out) {
        failed = true;
        out.println("It cannot write: " + reason(failure));
        // The reason may have the address.
        String why = "the check cannot write";
        add(
                List.of(
                        Finding.notTried(
                                Part.CONTRACT, "all rules", why, "If the user lacks rights: " + server.rightsOfAreas()),
                        Finding.notTried(Part.LOAD, "all promises", why)),
                out);
    }

    /** Says so if that fails: the results stand. */
    private static void remove(Area area, PrintWriter out) {
        try {
            area.close();
        } catch (RuntimeException ex) {
            out.println("It could not remove " + area.leftovers() + ": " + reason(ex));
            out.flush();
        }
    }

    /** Runs a part. The report has the others, too, if it fails. */
    private void run(Part part, PrintWriter out, Step step) {
        try {
            step.run();
        } catch (Exception | Error ex) {
            failed = true;
            out.println("  " + part.title() + " could not run: " + reason(ex));
            // The reason may have the address.
            findings.add(Finding.notTried(part, "all of it or the rest", "it could not run"));
        }
    }

    @FunctionalInterface
    private interface Step {
        void run() throws Exception;
    }

    private static void awaitRestart(PrintWriter out) {
        out.println("  Now restart the server, or let it fail over. Press Enter when it is back.");
        out.flush();
        try {
            new BufferedReader(new InputStreamReader(System.in)).readLine();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    static Finding repeats(Area area) {
        long counted = area.writesCounted(WRITES);
        return counted == WRITES
                ? Finding.holds(Part.LOOK, "each request once", WRITES + " writes were counted once each")
                : Finding.broken(
                        Part.LOOK,
                        "each request once",
                        "the server counted " + counted + " of " + WRITES
                                + " writes: something in front of it repeats or drops statements",
                        "Connect without that proxy, or switch its retries off");
    }

    private void add(List<Finding> found, PrintWriter out) {
        findings.addAll(found);
        found.forEach(each -> out.print(each.inLines()));
        out.flush();
    }

    /** The version of the jar, and what it runs on. */
    static final class Version implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = Check.class.getPackage().getImplementationVersion();
            return new String[] {
                "SyncGuard " + (version == null ? "(classes)" : version) + ", Spring Boot "
                        + SpringBootVersion.getVersion() + ", Java " + Runtime.version()
            };
        }
    }
}
