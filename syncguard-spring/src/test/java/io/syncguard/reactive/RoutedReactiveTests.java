package io.syncguard.reactive;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.context.ContextRegistry;
import io.syncguard.LockException;
import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.core.EngineFixture;
import io.syncguard.testing.Tenant;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/** The thread that subscribes decides the store, and all locks of the subscription are in it. The default is north. */
@Timeout(60)
class RoutedReactiveTests {

    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final LockRequest ORDER = LockRequest.of("order:42").waitTime(Duration.ofMinutes(1));
    private static final LockRequest ONCE = ORDER.waitTime(Duration.ZERO);

    @RegisterExtension
    private final EngineFixture north = new EngineFixture();

    @RegisterExtension
    private final EngineFixture south = new EngineFixture();

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicInteger asked = new AtomicInteger();
    private final LockManager routing = LockManager.routing(() -> {
        asked.incrementAndGet();
        return "south".equals(Tenant.current()) ? south.engine : north.engine;
    });
    private final ReactiveLockTemplate locks = new ReactiveLockTemplate(routing, threads);

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    @Test
    void the_lock_is_in_the_store_of_the_thread_that_subscribes() throws Exception {
        Sinks.One<String> body = Sinks.one();
        Mono<String> made = Tenant.as("north", () -> locks.mono(ORDER, lock -> body.asMono()));

        CompletableFuture<String> result = Tenant.as("south", made::toFuture);
        eventually().until(() -> body.currentSubscriberCount() == 1);

        assertThat(south.engine.isLocked("order:42")).isTrue();
        assertThat(north.engine.isLocked("order:42")).isFalse();
        body.tryEmitValue("done");
        assertThat(result).succeedsWithin(LIMIT).isEqualTo("done");
        assertThat(south.engine.isLocked("order:42")).isFalse();
        assertThat(asked).hasValue(1);
    }

    @Test
    void each_subscription_asks_anew() throws Exception {
        Mono<String> receipt = locks.mono(ORDER, lock -> Mono.just("done"));

        Tenant.as("south", () -> receipt.block(LIMIT));
        Tenant.as("north", () -> receipt.block(LIMIT));

        assertThat(south.store.fence("order:42")).isOne();
        assertThat(north.store.fence("order:42")).isOne();
    }

    @Test
    void a_holder_excludes_blocking_callers_of_its_tenant_alone() throws Exception {
        LockTemplate blocking = new LockTemplate(routing);

        String tries = Tenant.as(
                "south",
                () -> locks.mono(
                                ORDER,
                                lock -> Mono.fromCallable(
                                        () -> triedBy(blocking, "south") + ", " + triedBy(blocking, "north")))
                        .block(LIMIT));

        assertThat(tries).isEqualTo("refused, granted");
    }

    @Test
    void nested_locks_are_in_the_store_of_the_outer_one_on_any_thread() throws Exception {
        List<Long> fences = Tenant.as(
                "south",
                () -> locks.mono(
                                ORDER,
                                outer -> Mono.just("")
                                        .publishOn(Schedulers.parallel())
                                        .flatMap(on -> Mono.zip(
                                                        locks.mono(
                                                                ORDER,
                                                                inner -> Mono.just(inner.fence()
                                                                        .value())),
                                                        locks.mono(
                                                                "order:43",
                                                                inner -> Mono.just(inner.fence()
                                                                        .value())))
                                                .map(both -> List.of(both.getT1(), both.getT2()))))
                        .block(LIMIT));

        assertThat(fences).as("the first one joins").containsExactly(1L, 1L);
        assertThat(south.store.fence("order:42")).isOne();
        assertThat(south.store.fence("order:43")).isOne();
        assertThat(north.store.fence("order:42") + north.store.fence("order:43"))
                .isZero();
    }

    @Test
    void a_nested_subscription_of_another_tenant_joins_no_lock_of_the_first_one() throws Exception {
        String ids = Tenant.as(
                "north",
                () -> locks.mono(
                                ORDER,
                                outer -> Mono.fromFuture(() -> asSouth(locks.mono(
                                        ORDER,
                                        inner -> Mono.just(inner.lockId().equals(outer.lockId()) ? "joined" : "own")))))
                        .block(LIMIT));

        assertThat(ids).isEqualTo("own");
        assertThat(north.store.fence("order:42")).isOne();
        assertThat(south.store.fence("order:42")).isOne();
    }

    @Test
    void what_follows_in_a_routed_publisher_stays_in_its_store() throws Exception {
        AtomicInteger bodies = new AtomicInteger();
        Mono<Integer> thrice = locks.mono(
                ORDER,
                lock -> Mono.fromCallable(() -> {
                    if (bodies.incrementAndGet() < 3) {
                        throw new IllegalStateException("again");
                    }
                    return 3;
                }));

        Tenant.as(
                "south",
                () -> locks.routed(thrice.retry(2).then(locks.mono("order:43", lock -> Mono.just(""))))
                        .blockLast(LIMIT));

        assertThat(south.store.fence("order:42")).isEqualTo(3);
        assertThat(south.store.fence("order:43")).isOne();
        assertThat(asked).hasValue(1);
    }

    @Test
    void a_supplier_that_throws_or_returns_null_is_the_error() {
        IllegalStateException noTenant = new IllegalStateException("no tenant");
        LockManager throwing = LockManager.routing(() -> {
            throw noTenant;
        });

        assertThat(failureOf(new ReactiveLockTemplate(throwing, threads).mono("order:42", lock -> Mono.just(""))))
                .isSameAs(noTenant);
        assertThat(failureOf(new ReactiveLockTemplate(LockManager.routing(() -> null), threads)
                        .mono("order:42", lock -> Mono.just(""))))
                .isInstanceOf(LockException.class)
                .hasMessageContaining("returned null");
    }

    @Test
    void a_captured_context_decides_on_whatever_thread() throws Exception {
        ContextRegistry.getInstance()
                .registerThreadLocalAccessor("tenant", Tenant::current, Tenant::set, () -> Tenant.set(null));
        try {
            Mono<String> receipt = locks.mono(ORDER, lock -> Mono.just("done"))
                    .subscribeOn(Schedulers.parallel())
                    .contextCapture();
            Tenant.as("south", () -> receipt.block(LIMIT));
            Hooks.enableAutomaticContextPropagation();
            Tenant.as("south", () -> receipt.block(LIMIT));
        } finally {
            Hooks.disableAutomaticContextPropagation();
            ContextRegistry.getInstance().removeThreadLocalAccessor("tenant");
        }

        assertThat(south.store.fence("order:42")).isEqualTo(2);
    }

    private static <T> CompletableFuture<T> asSouth(Mono<T> work) {
        try {
            return Tenant.as("south", work::toFuture);
        } catch (Exception ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static String triedBy(LockTemplate locks, String tenant) throws Exception {
        return Tenant.as(tenant, () -> {
            try {
                return locks.execute(ONCE, lock -> "granted");
            } catch (LockNotAcquiredException ex) {
                return "refused";
            }
        });
    }

    private static Throwable failureOf(Mono<?> mono) {
        return mono.<Throwable>map(value -> new AssertionError("It ended with " + value))
                .onErrorResume(Mono::just)
                .block(LIMIT);
    }
}
