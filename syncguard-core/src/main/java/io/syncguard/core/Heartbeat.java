package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.concurrent.Alarm;
import io.syncguard.concurrent.Shielded;
import io.syncguard.concurrent.Time;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.LockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Extends all leases that are due, on the thread {@code syncguard-heartbeat}.
 *
 * <p>It sends one statement per tick and server, or a few if there are many leases; what ends first goes first. A lease
 * that is due soon is extended along with the others, so that leases which were acquired at different times share their
 * statements from the first tick on. A tick that failed is repeated sooner. A lease that the server no longer knows is
 * lost. The other leases are not affected.
 */
final class Heartbeat implements DueRequests.Work<Lease>, AutoCloseable {

    private static final Log log = LogFactory.getLog(Heartbeat.class);

    private final LockBackend backend;
    private final LeaseMonitor monitor;
    private final LeaseReports reports;
    private final Time time;
    private final Alarm alarm;
    private final DueRequests<Lease> due;

    /** For each server that fails: the number of statements since its last success. */
    private final Map<Integer, Integer> failures = new ConcurrentHashMap<>();

    /** When the last success was, by the local clock. Written by the heartbeat's thread alone. */
    private volatile @Nullable Long succeededAt;

    /** Whether the log has a warning of these failures. Written by the heartbeat's thread alone. */
    private volatile boolean warned;

    Heartbeat(LockBackend backend, LeaseMonitor monitor, LeaseReports reports, Time time) {
        this.backend = backend;
        this.monitor = monitor;
        this.reports = reports;
        this.time = time;
        this.due = new DueRequests<>("syncguard-heartbeat", this, time, this::ringAt);
        this.alarm = new Alarm("syncguard-heartbeat", time, due::run);
    }

    /** Schedules the extension of a lease, if its heartbeat is on. */
    void schedule(Lease lease) {
        due.schedule(dueAt(lease));
    }

    /** The number of statements that failed since the last success, at the server with most of them. */
    int failures() {
        return failures.values().stream().max(Comparator.naturalOrder()).orElse(0);
    }

    /** The number of leases that could not be extended in time. */
    int overdue() {
        long now = time.nanoTime();
        return (int) monitor.stream()
                .filter(lease -> lease.schedule().isOverdue(now) && lease.isHeld())
                .count();
    }

    /** The time since the last success; {@code null} if there was none. */
    @Nullable
    Duration sinceSuccess() {
        Long at = succeededAt;
        return at == null ? null : Duration.ofNanos(time.nanoTime() - at);
    }

    @Override
    public void close() {
        alarm.close();
        due.close();
    }

    private void ringAt(long nanoTime) {
        alarm.ringAt(nanoTime);
    }

    @Override
    public Stream<Lease> all() {
        return monitor.stream();
    }

    @Override
    public int serverOf(Lease lease) {
        return backend.serverOf(lease.lockId());
    }

    @Override
    public long dueAt(Lease lease) {
        return lease.schedule().isOn() && lease.isHeld() ? lease.schedule().dueAt() : Time.NEVER;
    }

    @Override
    public boolean isDue(Lease lease, long now) {
        return lease.schedule().isDue(now) && lease.isHeld();
    }

    @Override
    public long endsAt(Lease lease) {
        return lease.deadline();
    }

    @Override
    public void send(int server, List<Lease> leases) {
        List<LeaseExtension> extensions = new ArrayList<>();
        boolean sent = false;
        try {
            leases.forEach(lease -> begin(lease, extensions));
            if (!extensions.isEmpty()) {
                extend(server, extensions);
            }
            sent = true;
        } finally {
            if (!sent) {
                extensions.forEach(LeaseExtension::close);
            }
        }
    }

    private void begin(Lease lease, List<LeaseExtension> extensions) {
        LeaseExtension extension = lease.tryExtend();
        if (extension == null) {
            // Its holder is extending it.
            lease.schedule().postpone(time.nanoTime());
            schedule(lease);
        } else if (lease.isHeld()) {
            extensions.add(extension);
        } else {
            extension.close();
        }
    }

    private void extend(int server, List<LeaseExtension> extensions) {
        List<ExtendRequest> requests =
                extensions.stream().map(LeaseExtension::heartbeat).toList();
        due.send(
                server,
                extensions.stream().map(LeaseExtension::lease).toList(),
                () -> backend.extend(requests),
                (results, failure) -> ended(server, extensions, results, failure));
    }

    private void ended(
            int server,
            List<LeaseExtension> extensions,
            @Nullable List<ExtendResult> results,
            @Nullable Throwable failure) {
        try {
            if (results == null) {
                failed(server, extensions, BackendFailure.of("The heartbeat failed", Objects.requireNonNull(failure)));
            } else {
                answered(server, extensions, results);
            }
        } catch (Throwable ex) {
            // Also after an Error, such as a lack of memory or threads, the heartbeat goes on and repeats these.
            failed(server, extensions, BackendFailure.of("The heartbeat failed", ex));
        } finally {
            extensions.forEach(LeaseExtension::close);
        }
        reports.extended(extensions);
    }

    private void answered(int server, List<LeaseExtension> extensions, List<ExtendResult> results) {
        for (int i = 0; i < results.size(); i++) {
            if (extensions.get(i).answered(results.get(i))) {
                monitor.watch(extensions.get(i).lease());
            }
        }
        succeeded(server);
    }

    /**
     * Warns once per outage, and only if a lease is still held: each loss has its own warning.
     */
    private void failed(int server, List<LeaseExtension> extensions, LockBackendException error) {
        failures.merge(server, 1, Integer::sum);
        List<Lease> leases = extensions.stream().map(LeaseExtension::lease).toList();
        extensions.forEach(each -> each.failed(error));
        leases.forEach(lease -> lease.schedule().postpone(time.nanoTime()));
        long held = leases.stream().filter(Lease::isHeld).count();
        if (!warned && held > 0) {
            warned = true;
            Shielded.log(() -> log.warn(
                    "The heartbeat could not extend " + held + " lock(s) and tries again; each is held until its ttl is"
                            + " over",
                    error));
        } else {
            Shielded.log(() -> log.debug(
                    "The heartbeat could not extend " + leases.size() + " lock(s), " + held + " of them still held",
                    error));
        }
    }

    private Predicate<Lease> isHeldAt(int server) {
        return lease -> lease.isHeld() && serverOf(lease) == server;
    }

    private void succeeded(int server) {
        if (!failures.isEmpty()) {
            int failed = failures();
            // A server without leases gets no request that could succeed.
            failures.keySet()
                    .removeIf(each -> each == server || monitor.stream().noneMatch(isHeldAt(each)));
            if (warned && failures.isEmpty()) {
                warned = false;
                Shielded.log(
                        () -> log.info("The heartbeat extends locks again, after " + failed + " failed attempt(s)"));
            }
        }
        succeededAt = time.nanoTime();
    }
}
