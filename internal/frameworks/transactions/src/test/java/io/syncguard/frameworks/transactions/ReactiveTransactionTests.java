package io.syncguard.frameworks.transactions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.ConnectionFactory;
import io.syncguard.DistributedLock;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockMode;
import io.syncguard.LockRequest;
import io.syncguard.aop.DistributedLockAdvisor;
import io.syncguard.reactive.ReactiveLockTemplate;
import io.syncguard.testing.OtherSession;
import io.syncguard.testing.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/** A lock that is acquired in a reactive transaction is held until the transaction has ended. */
@SpringBootTest(properties = "spring.main.web-application-type=none")
@Timeout(60)
class ReactiveTransactionTests {

    private static final LockRequest ORDER = LockRequest.of("order", "1").waitTime(Duration.ofSeconds(30));

    private static final Duration LIMIT = Duration.ofSeconds(20);

    @Autowired
    private Stock stock;

    @Autowired
    private Orders orders;

    @Autowired
    private LockManager manager;

    @Autowired
    private ReactiveLockTemplate locks;

    @Autowired
    private DistributedLockAdvisor advisor;

    @Autowired
    private TransactionalOperator transaction;

    @Autowired
    private ReactiveTransactionManager transactions;

    @Autowired
    private DatabaseClient database;

    @Autowired
    private JdbcClient jdbc;

    private final Sinks.One<String> gate = Sinks.one();

    private final Disposable.Composite subscriptions = Disposables.composite();

    @AfterEach
    void cancel() {
        subscriptions.dispose();
    }

    @BeforeEach
    void reset() {
        jdbc.sql("DELETE FROM sale").update();
        jdbc.sql("UPDATE stock SET amount = 0").update();
    }

    @Test
    void the_next_holder_sees_what_the_transaction_around_a_locked_method_wrote() {
        allAtOnce(20, orders.sell());

        assertThat(amount()).isEqualTo(20);
    }

    @Test
    void and_what_an_operator_around_the_template_wrote() {
        allAtOnce(20, transaction.transactional(locks.mono(ORDER, lock -> stock.add())));

        assertThat(amount()).isEqualTo(20);
    }

    @Test
    void no_update_is_lost_when_subscriptions_are_cancelled_at_any_time() {
        List<CompletableFuture<Long>> all = IntStream.range(0, 60)
                .mapToObj(i -> {
                    Mono<Long> sale = i % 3 == 0 ? orders.sell() : orders.sell().timeout(Duration.ofMillis(5L * i));
                    return sale.onErrorComplete(TimeoutException.class)
                            .subscribeOn(Schedulers.parallel())
                            .toFuture();
                })
                .toList();
        all.forEach(each -> assertThat(each).succeedsWithin(LIMIT));
        awaitFree("order:1");

        assertThat(amount())
                .isGreaterThanOrEqualTo(20)
                .isEqualTo(
                        jdbc.sql("SELECT count(*) FROM sale").query(Long.class).single());
    }

    @Test
    @Tag("verification")
    void nor_in_a_thousand_of_them() {
        for (int i = 0; i < 20; i++) {
            reset();
            no_update_is_lost_when_subscriptions_are_cancelled_at_any_time();
        }
    }

    /** The ways in which a transaction ends. */
    enum End {
        COMMIT,
        ROLLBACK,
        CANCELLATION
    }

    @ParameterizedTest
    @EnumSource
    void a_lock_is_held_until_the_transaction_has_ended(End end) {
        Disposable subscription = subscribe(stock.lockedAdd().then(gate.asMono()));
        await().until(() -> uncommitted() == 1);
        assertThat(manager.isLocked("order:1")).isTrue();

        end(end, subscription);

        awaitFree("order:1");
        assertThat(amount()).isEqualTo(end == End.COMMIT ? 1 : 0);
    }

    @Test
    void so_are_several_locks_of_any_mode() {
        subscribe(stock.lockedPair().then(gate.asMono()));
        await().until(() -> uncommitted() == 1);
        assertThat(manager.isLocked("pair:1") && manager.isLocked("pair:2")).isTrue();
        gate.tryEmitEmpty();
        awaitFree("pair:1");
        awaitFree("pair:2");
    }

    @Test
    void a_flux_that_ends_early_keeps_its_lock() {
        Flux<Long> locked = locks.flux(ORDER, lock -> Flux.concat(stock.add(), Mono.never()));
        subscribe(locked.take(1).then(gate.asMono()));
        await().until(() -> uncommitted() == 1);
        assertThat(manager.isLocked("order:1")).isTrue();

        gate.tryEmitEmpty();

        awaitFree("order:1");
        assertThat(amount()).isEqualTo(1);
    }

    @Test
    void a_body_that_fails_keeps_its_lock_until_the_transaction_has_ended() {
        Mono<String> failing = locks.mono(ORDER, lock -> stock.add().then(Mono.error(new IllegalStateException("no"))));
        subscribe(failing.onErrorResume(IllegalStateException.class, handled -> gate.asMono()));
        await().until(() -> uncommitted() == 1);
        assertThat(manager.isLocked("order:1")).isTrue();

        gate.tryEmitEmpty();

        awaitFree("order:1");
    }

    @Test
    void a_cancellation_does_not_release_the_lock_of_a_transaction_that_commits() {
        try (OtherSession other = new OtherSession(Application.URL)) {
            other.run("SELECT pg_advisory_xact_lock(42)");
            // The check of the constraint waits for the other session.
            Disposable subscription = subscribe(stock.lockedAdd().then(stock.execute("INSERT INTO slow VALUES (1)")));
            other.awaitWaiter();

            subscription.dispose();

            assertThat(manager.isLocked("order:1")).isTrue();
            other.rollback();
            awaitFree("order:1");
        }
        assertThat(amount()).isEqualTo(1);
    }

    @Test
    void a_transaction_can_lock_a_key_again() {
        Mono<Long> twice = stock.lockedAdd().then(stock.lockedAdd());

        transaction.transactional(twice).block(LIMIT);

        assertThat(amount()).isEqualTo(2);
        assertThat(manager.isLocked("order:1")).isFalse();
    }

    @Test
    void publishers_of_one_transaction_that_need_a_key_wait_for_each_other_and_not_for_the_transaction() {
        Flux<Long> atOnce = Flux.range(0, 10).flatMap(i -> stock.lockedAdd());

        atOnce.as(transaction::transactional).then().block(LIMIT);

        assertThat(amount()).isEqualTo(10);
        awaitFree("order:1");
    }

    @Test
    void an_exclusive_request_after_a_shared_one_is_refused_at_once() {
        Mono<Long> upgrade = locks.mono(ORDER.shared(), lock -> stock.add()).then(stock.lockedAdd());

        assertThatThrownBy(() -> transaction.transactional(upgrade).block(LIMIT))
                .isInstanceOf(LockException.class)
                .hasMessageContaining("is held in mode SHARED");
        awaitFree("order:1");
    }

    @Test
    void a_nested_lock_ends_with_the_outer_one() {
        Mono<Long> nested =
                locks.mono(ORDER, lock -> stock.lockedAdd()).then(gate.asMono()).thenReturn(1L);
        subscribe(nested);
        await().until(() -> uncommitted() == 1);
        assertThat(manager.isLocked("order:1")).isTrue();
        gate.tryEmitEmpty();
        awaitFree("order:1");
    }

    @Test
    void a_transaction_inside_has_locks_of_its_own_and_joins_those_around_it() {
        AtomicReference<List<Boolean>> locked = new AtomicReference<>();
        Mono<Long> inner = requiresNew()
                .transactional(Flux.concat(
                                locks.mono(LockRequest.of("inner"), lock -> Mono.just(1L)),
                                locks.mono(ORDER, lock -> Mono.just(1L)))
                        .then(Mono.just(1L)));
        Mono<Long> outer = stock.lockedAdd()
                .then(inner)
                .doOnNext(done -> locked.set(List.of(manager.isLocked("inner"), manager.isLocked("order:1"))))
                .then(stock.lockedAdd());

        transaction.transactional(outer).block(LIMIT);

        assertThat(locked.get()).containsExactly(false, true);
        assertThat(manager.isLocked("order:1")).isFalse();
        assertThat(amount()).isEqualTo(2);
    }

    @Test
    void a_lock_around_the_transaction_ends_after_it() {
        allAtOnce(20, locks.mono(ORDER, lock -> transaction.transactional(stock.add())));

        assertThat(amount()).isEqualTo(20);
        assertThat(manager.isLocked("order:1")).isFalse();
    }

    @Test
    void a_lock_in_no_transaction_ends_with_its_body() {
        DefaultTransactionDefinition supports =
                new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_SUPPORTS);
        TransactionalOperator none = TransactionalOperator.create(transactions, supports);

        none.transactional(stock.lockedAdd().doOnNext(done -> awaitFree("order:1")))
                .block(LIMIT);
    }

    @Test
    void locks_of_a_routing_manager_are_held_as_well() {
        ReactiveLockTemplate routed =
                new ReactiveLockTemplate(LockManager.routing(() -> manager), advisor.reactiveThreads());

        allAtOnce(20, transaction.transactional(routed.mono(ORDER, lock -> stock.add())));

        assertThat(amount()).isEqualTo(20);
    }

    @Test
    void a_lock_that_lapses_after_its_body_fails_the_commit() {
        AtomicReference<LockHandle> handle = new AtomicReference<>();
        LockRequest brief = ORDER.ttl(Duration.ofMillis(500)).noHeartbeat();
        CompletableFuture<String> result = transaction
                .transactional(locks.mono(brief, lock -> {
                            handle.set(lock);
                            return stock.add();
                        })
                        .then(gate.asMono()))
                .toFuture();
        subscriptions.add(() -> result.cancel(true));
        await().until(() -> handle.get() != null && !handle.get().isHeld());

        gate.tryEmitValue("late");

        assertThat(result).failsWithin(LIMIT).withThrowableThat().withCauseInstanceOf(LockLostException.class);
        assertThat(amount()).isZero();
    }

    @Test
    void a_lock_that_lapses_in_its_body_fails_the_body() {
        LockRequest brief = ORDER.ttl(Duration.ofMillis(500)).noHeartbeat();
        Mono<String> late = locks.mono(brief, lock -> stock.add().then(Mono.never()));

        assertThatThrownBy(() -> transaction.transactional(late).block(LIMIT)).isInstanceOf(LockLostException.class);
        assertThat(amount()).isZero();
    }

    @Test
    void the_event_loop_that_ends_the_transaction_does_not_wait_for_the_release() {
        try (OtherSession other = new OtherSession(Application.URL)) {
            subscribe(stock.lockedAdd().then(gate.asMono()));
            await().until(() -> uncommitted() == 1);
            other.run("SELECT FROM syncguard_fence_counters WHERE key_debug = 'order:1' FOR UPDATE");

            gate.tryEmitEmpty();
            other.awaitWaiter();

            assertThat(database.sql("SELECT amount FROM stock")
                            .map(row -> row.get(0, Long.class))
                            .one()
                            .block(LIMIT))
                    .isEqualTo(1);
            other.rollback();
        }
        awaitFree("order:1");
    }

    @Test
    void a_connection_that_is_lost_before_the_commit_ends_the_lock() {
        Mono<Long> broken = stock.lockedAdd()
                .flatMap(done -> database.sql("SELECT pg_backend_pid()")
                        .map(row -> Objects.requireNonNull(row.get(0, Integer.class)))
                        .one())
                .doOnNext(pid -> jdbc.sql("SELECT pg_terminate_backend(?)")
                        .param(pid)
                        .query(Boolean.class)
                        .single())
                .thenReturn(1L);

        assertThatThrownBy(() -> transaction.transactional(broken).block(LIMIT)).isInstanceOf(Exception.class);
        awaitFree("order:1");
    }

    @Test
    @Tag("verification")
    void another_synchronization_that_fails_after_the_commit_does_not_keep_the_lock() {
        TransactionSynchronization failing = new TransactionSynchronization() {
            @Override
            public Mono<Void> afterCommit() {
                return Mono.error(new IllegalStateException("no"));
            }
        };
        Mono<Long> commits = TransactionSynchronizationManager.forCurrentTransaction()
                .doOnNext(synchronizations -> synchronizations.registerSynchronization(failing))
                .then(stock.lockedAdd());

        assertThatThrownBy(() -> transaction.transactional(commits).block(LIMIT))
                .isInstanceOf(Exception.class);
        awaitFree("order:1");
        assertThat(amount()).isEqualTo(1);
    }

    private Disposable subscribe(Mono<?> body) {
        Disposable subscription = transaction.transactional(body).subscribe(result -> {}, failure -> {});
        subscriptions.add(subscription);
        return subscription;
    }

    private void end(End end, Disposable subscription) {
        switch (end) {
            case COMMIT -> gate.tryEmitEmpty();
            case ROLLBACK -> gate.tryEmitError(new IllegalStateException("no"));
            case CANCELLATION -> subscription.dispose();
        }
    }

    private TransactionalOperator requiresNew() {
        return TransactionalOperator.create(
                transactions, new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
    }

    private static void allAtOnce(int number, Mono<Long> work) {
        Flux.range(0, number)
                .flatMap(i -> work.subscribeOn(Schedulers.parallel()), number)
                .blockLast(LIMIT);
    }

    /** The release may hand the key to a waiter that has given up, which gives it back. */
    private void awaitFree(String key) {
        await().until(() -> !manager.isLocked(key));
    }

    private long amount() {
        return jdbc.sql("SELECT amount FROM stock").query(Long.class).single();
    }

    /** The number of open transactions that have written. */
    private long uncommitted() {
        return jdbc.sql("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                        + " AND state = 'idle in transaction' AND backend_xid IS NOT NULL")
                .query(Long.class)
                .single();
    }

    static class Stock {

        private final DatabaseClient database;

        Stock(DatabaseClient database) {
            this.database = database;
        }

        @DistributedLock(name = "order", key = "'1'", waitTime = "30s")
        public Mono<Long> lockedAdd() {
            return add();
        }

        @DistributedLock(name = "pair", key = "{1, 2}", mode = LockMode.SHARED)
        public Mono<Long> lockedPair() {
            return add();
        }

        /** Loses an update if another transaction writes between its statements. */
        Mono<Long> add() {
            return database.sql("SELECT amount FROM stock")
                    .map(row -> Objects.requireNonNull(row.get(0, Long.class)))
                    .one()
                    .flatMap(amount -> execute("UPDATE stock SET amount = " + (amount + 1)))
                    .flatMap(done -> execute("INSERT INTO sale DEFAULT VALUES"));
        }

        Mono<Long> execute(String statement) {
            return database.sql(statement).fetch().rowsUpdated();
        }
    }

    static class Orders {

        private final Stock stock;

        Orders(Stock stock) {
            this.stock = stock;
        }

        @Transactional
        public Mono<Long> sell() {
            return stock.lockedAdd();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableTransactionManagement
    @Import({Stock.class, Orders.class})
    static class Application {

        static final String URL = PostgresServer.newDatabaseUrl();

        @Bean
        DataSource dataSource() {
            DataSource created = PostgresServer.dataSource(URL);
            JdbcClient jdbc = JdbcClient.create(created);
            jdbc.sql("CREATE TABLE stock AS SELECT 0::BIGINT AS amount").update();
            jdbc.sql("CREATE TABLE sale (id BIGINT GENERATED ALWAYS AS IDENTITY)")
                    .update();
            jdbc.sql("CREATE TABLE slow (id BIGINT)").update();
            jdbc.sql("CREATE FUNCTION wait() RETURNS TRIGGER LANGUAGE plpgsql AS"
                            + " 'BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NULL; END'")
                    .update();
            jdbc.sql("CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON slow DEFERRABLE INITIALLY DEFERRED"
                            + " FOR EACH ROW EXECUTE FUNCTION wait()")
                    .update();
            return created;
        }

        /** One thread runs all connections. */
        @Bean(destroyMethod = "dispose")
        LoopResources loopResources() {
            return LoopResources.create("loop", 1, true);
        }

        @Bean
        ConnectionFactory connectionFactory(LoopResources loop) {
            PGSimpleDataSource url = (PGSimpleDataSource) PostgresServer.dataSource(URL);
            return new PostgresqlConnectionFactory(PostgresqlConnectionConfiguration.builder()
                    .host(Objects.requireNonNull(url.getServerNames())[0])
                    .port(url.getPortNumbers()[0])
                    .database(Objects.requireNonNull(url.getDatabaseName()))
                    .username(Objects.requireNonNull(url.getUser()))
                    .password(url.getPassword())
                    .loopResources(loop)
                    .build());
        }

        @Bean
        DatabaseClient databaseClient(ConnectionFactory connections) {
            return DatabaseClient.create(connections);
        }

        @Bean
        R2dbcTransactionManager transactionManager(ConnectionFactory connections) {
            return new R2dbcTransactionManager(connections);
        }

        @Bean
        TransactionalOperator transactionalOperator(ReactiveTransactionManager manager) {
            return TransactionalOperator.create(manager);
        }
    }
}
