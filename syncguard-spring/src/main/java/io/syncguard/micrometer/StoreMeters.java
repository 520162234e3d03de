package io.syncguard.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.syncguard.LockErrorCode;
import io.syncguard.core.EngineDiagnostics;
import io.syncguard.core.LockEngine;
import io.syncguard.core.ProcessStatus;
import io.syncguard.core.StoreOperation;
import io.syncguard.spi.PoolStatus;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Shows the stores of this process, under {@code syncguard.store.*}: their requests, connections and heartbeats. The
 * engines of one kind of store share meters. Each meter reads what the engines know anyway, without I/O. Thread-safe.
 */
public final class StoreMeters {

    /** The errors that requests to a store have. Others come from the engine. */
    private static final Set<LockErrorCode> ERRORS =
            EnumSet.complementOf(EnumSet.of(LockErrorCode.ACQUISITION_TIMEOUT, LockErrorCode.LOST));

    private final MeterRegistry registry;
    private final List<Supplier<? extends Collection<LockEngine>>> sources = new CopyOnWriteArrayList<>();
    private final Set<String> known = ConcurrentHashMap.newKeySet();

    public StoreMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    /**
     * Makes the meters of these engines, at zero.
     *
     * @param engines returns the current ones; called for each value of a meter
     */
    public void add(Supplier<? extends Collection<LockEngine>> engines) {
        sources.add(engines);
        engines.get().forEach(engine -> {
            String backend = engine.admin().backend().name();
            if (known.add(backend)) {
                make(new Store(backend), Tags.of("backend", backend));
            }
        });
    }

    /** Leaves these engines out of the meters. */
    public void remove(Supplier<? extends Collection<LockEngine>> engines) {
        sources.remove(engines);
    }

    private void make(Store store, Tags tags) {
        for (StoreOperation operation : StoreOperation.values()) {
            requests(store, tags, operation, null);
            ERRORS.forEach(error -> requests(store, tags, operation, error));
        }
        FunctionCounter.builder(
                        "syncguard.store.forced.releases", store, it -> it.sum(EngineDiagnostics::forcedReleases))
                .description("Leases, of all processes, that this process has released by force")
                .tags(tags)
                .register(registry);
        TimeGauge.builder("syncguard.store.heartbeat.age", store, TimeUnit.MILLISECONDS, Store::heartbeatAge)
                .description("Time since the store confirmed extensions; NaN while nothing is held")
                .tags(tags)
                .register(registry);
        gauge(
                "overdue",
                "Held locks that could not be extended in time",
                store,
                tags,
                it -> it.sum(each -> each.process().overdue()));
        gauge(
                "wakeups",
                "1 if wake-ups arrive, 0 if waiters poll; NaN before the first wait",
                store,
                tags,
                Store::wakeUps);
        if (store.pools().findAny().isPresent()) {
            connections(store, tags, "active", PoolStatus::active);
            connections(store, tags, "idle", PoolStatus::idle);
            connections(store, tags, "awaiting", PoolStatus::awaiting);
            connections(store, tags, "maximum", PoolStatus::maximum);
        }
    }

    private void requests(Store store, Tags tags, StoreOperation operation, @Nullable LockErrorCode error) {
        FunctionTimer.builder(
                        "syncguard.store.requests",
                        store,
                        it -> it.sum(each -> each.requests().number(operation, error)),
                        it -> it.sum(each -> each.requests().nanos(operation, error)),
                        TimeUnit.NANOSECONDS)
                .description("Requests to the store, until their answers")
                .tags(tags.and("operation", lowerCase(operation), "error", error == null ? "none" : lowerCase(error)))
                .register(registry);
    }

    private void connections(Store store, Tags tags, String state, ToLongFunction<PoolStatus> number) {
        gauge(
                "connections",
                "Connections for callers, threads that wait for one, and the limit",
                store,
                tags.and("state", state),
                it -> it.pools().mapToLong(number).sum());
    }

    private void gauge(String meter, String description, Store store, Tags tags, ToDoubleFunction<Store> value) {
        Gauge.builder("syncguard.store." + meter, store, value)
                .description(description)
                .tags(tags)
                .strongReference(true)
                .register(registry);
    }

    private static String lowerCase(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    /** The engines with this kind of store at the moment. */
    private final class Store {

        private final String backend;

        Store(String backend) {
            this.backend = backend;
        }

        long sum(ToLongFunction<EngineDiagnostics> value) {
            return engines().mapToLong(value).sum();
        }

        double heartbeatAge() {
            return worst(
                    status -> status.held() == 0 || status.sinceHeartbeat() == null
                            ? null
                            : (double) status.sinceHeartbeat().toMillis(),
                    Math::max);
        }

        double wakeUps() {
            return worst(status -> status.wakeUps() == null ? null : status.wakeUps() ? 1.0 : 0.0, Math::min);
        }

        Stream<PoolStatus> pools() {
            return engines().map(each -> each.process().pool()).filter(Objects::nonNull);
        }

        private double worst(Function<ProcessStatus, @Nullable Double> value, BinaryOperator<Double> worse) {
            return engines()
                    .map(each -> value.apply(each.process()))
                    .filter(Objects::nonNull)
                    .reduce(worse)
                    .orElse(Double.NaN);
        }

        private Stream<EngineDiagnostics> engines() {
            List<LockEngine> all = new ArrayList<>();
            sources.forEach(source -> all.addAll(source.get()));
            return all.stream()
                    .filter(engine -> engine.admin().backend().name().equals(backend))
                    .map(LockEngine::diagnostics);
        }
    }
}
