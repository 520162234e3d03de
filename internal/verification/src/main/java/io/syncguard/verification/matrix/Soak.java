package io.syncguard.verification.matrix;

import io.syncguard.verification.WorkerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Injects random faults for a long time, with a calm time after each. It measures the resource use of processes and
 * servers, which must not grow. When the clients rest, no lease or queue entry may be left.
 */
final class Soak<S extends Site> {

    /** Two sweeps, and the time after which the sweeper deletes a lapsed lease. */
    private static final Duration UNTIL_SWEPT = Duration.ofSeconds(125);

    /** Long, because a process may be busy with a fault. */
    private static final Duration UNTIL_MEASURED = Duration.ofSeconds(30);

    private static final double NANOS = 1e9;

    private final S site;
    private final Settings settings;
    private final Campaign<S> campaign;
    private final Random random;
    private final int immortal;
    private final Map<String, Series> series = new LinkedHashMap<>();
    private final List<String> violations = new ArrayList<>();

    /**
     * The times of a soak.
     *
     * @param duration the time in which faults are injected
     * @param interval the time between two measurements
     * @param tolerance added to the promised times, for other load on the machine
     */
    record Settings(Duration duration, Duration interval, Duration tolerance) {}

    /**
     * The result.
     *
     * @param series the measured figures
     * @param violations those of the campaign and of the soak
     */
    record Report(CampaignReport campaign, Settings settings, List<Series> series, List<String> violations) {}

    /** @param seed of all random choices */
    Soak(Plan<S> plan, S site, Settings settings, long seed) throws IOException {
        this.site = site;
        this.settings = settings;
        this.random = new Random(seed);
        this.immortal = plan.load().immortal();
        this.campaign = new Campaign<>(plan, site, seed, settings.tolerance);
    }

    Report run() throws Exception {
        Course course = new Course();
        CampaignReport report = campaign.run(course, course);
        violations.addAll(report.violations());
        series.values().stream()
                .filter(Series::grows)
                .forEach(each ->
                        violations.add("FLAT: " + each.name() + " grew from " + each.early() + " to " + each.late()));
        return new Report(report, settings, List.copyOf(series.values()), violations);
    }

    /** The faults, and the measurements between them. */
    private final class Course implements Iterator<Fault>, Campaign.Watch {

        private final Fault calm =
                campaign.faults().stream().filter(Fault::isCalm).findFirst().orElseThrow();
        private final List<Fault> faults =
                campaign.faults().stream().filter(fault -> !fault.isCalm()).toList();
        private Fleet fleet;
        private Fault before = calm;
        private long began;
        private long measured;

        @Override
        public void begin(Fleet started) {
            fleet = started;
            began = System.nanoTime();
            measured = began - settings.interval.toNanos();
        }

        @Override
        public boolean hasNext() {
            return System.nanoTime() - began < settings.duration.toNanos();
        }

        @Override
        public Fault next() {
            if (System.nanoTime() - measured >= settings.interval.toNanos()) {
                measured = System.nanoTime();
                measure();
            }
            before = before.isCalm() ? anyFault() : calm;
            return before;
        }

        /** Returns a random fault. Long faults are rare. */
        private Fault anyFault() {
            Fault any = faults.get(random.nextInt(faults.size()));
            return random.nextInt(any.share()) == 0 ? any : anyFault();
        }

        @Override
        public void end(Fleet working) throws Exception {
            for (int i = 0; i < working.size(); i++) {
                working.get(i).deliver(Shop.REST);
            }
            try {
                Awaitility.await().atMost(UNTIL_SWEPT).until(() -> site.store().entries() == 0);
            } catch (ConditionTimeoutException ex) {
                violations.add("LEFT: " + site.store().entries() + " leases and queue entries");
            }
            measure();
        }

        private void measure() {
            double second = (System.nanoTime() - began) / NANOS;
            site.sizes().forEach((name, value) -> add(name, second, value));
            for (int i = 0; i < immortal; i++) {
                String process = ", process " + (i + 1);
                gauges(fleet.get(i)).forEach((name, value) -> add(name + process, second, value));
            }
        }

        private Map<String, Double> gauges(WorkerProcess process) {
            Path file = fleet.gauges(process.name());
            try {
                Files.deleteIfExists(file);
                process.deliver(Shop.MEASURE);
                Awaitility.await("gauges of " + process.name())
                        .atMost(UNTIL_MEASURED)
                        .until(() -> Files.exists(file));
                return Gauges.read(file);
            } catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }

        private void add(String name, double second, double value) {
            series.computeIfAbsent(name, Series::new).add(second, value);
        }
    }
}
