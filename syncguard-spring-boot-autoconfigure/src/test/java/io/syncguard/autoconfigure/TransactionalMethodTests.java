package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.DistributedLock;
import io.syncguard.LockManager;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.testing.UsualBuild;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

class TransactionalMethodTests {

    @RegisterExtension
    private static final StockDatabase database = new StockDatabase();

    /** The ways to lock and to write in one transaction. */
    enum Way {
        LOCK_STANDS_FIRST(Stock::addLockFirst),
        TRANSACTION_STANDS_FIRST(Stock::addTransactionFirst),
        TEMPLATE_INSIDE_TRANSACTION(Stock::addUnderTemplate);

        private final BiConsumer<Stock, String> add;

        Way(BiConsumer<Stock, String> add) {
            this.add = add;
        }
    }

    static Stream<Way> ways() {
        return UsualBuild.first(1, Stream.of(Way.values()));
    }

    @ParameterizedTest
    @MethodSource("ways")
    void no_update_is_lost_between_two_applications(Way way) throws Exception {
        int threadsEach = 2;
        int additions = 10;
        ExecutorService threads = Executors.newFixedThreadPool(2 * threadsEach);
        try {
            run(one -> run(other -> {
                List<Future<?>> ends = new ArrayList<>();
                for (int i = 0; i < 2 * threadsEach; i++) {
                    Stock stock = (i % 2 == 0 ? one : other).getBean(Stock.class);
                    ends.add(threads.submit(() -> {
                        for (int n = 0; n < additions; n++) {
                            way.add.accept(stock, "apple");
                        }
                    }));
                }
                ends.forEach(TransactionalMethodTests::join);
            }));
        } finally {
            threads.shutdownNow();
        }
        assertThat(database.amount()).isEqualTo(2 * threadsEach * additions);
        assertThat(database.lockedKeys()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void the_lock_is_held_until_the_transaction_has_ended(Way way) {
        run(application -> {
            Stock stock = application.getBean(Stock.class);
            way.add.accept(stock, "apple");
            assertThat(stock.seen().lockedAtTheEnd).containsExactly("stock:apple");
            assertThat(database.lockedKeys()).isEmpty();
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_rollback_releases_it(Way way) {
        run(application -> {
            Stock stock = application.getBean(Stock.class);
            stock.seen().fails = true;
            assertThatThrownBy(() -> way.add.accept(stock, "apple")).hasMessage("no apples");
            assertThat(stock.seen().lockedAtTheEnd).containsExactly("stock:apple");
            assertThat(database.lockedKeys()).isEmpty();
            assertThat(database.amount()).isZero();
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_transaction_of_the_caller_is_waited_for(Way way) {
        run(application -> {
            application.getBean(TransactionTemplate.class).executeWithoutResult(transaction -> {
                way.add.accept(application.getBean(Stock.class), "apple");
                assertThat(database.lockedKeys()).containsExactly("stock:apple");
                way.add.accept(application.getBean(Stock.class), "apple");
            });
            assertThat(database.lockedKeys()).isEmpty();
            assertThat(database.amount()).isEqualTo(2);
        });
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "TEMPLATE_INSIDE_TRANSACTION")
    void a_refused_call_begins_no_transaction(Way way) {
        run(other -> {
            other.getBean(LockManager.class).acquire(LockRequest.of("stock:apple"));
            run(
                    application -> {
                        assertThatThrownBy(() -> way.add.accept(application.getBean(Stock.class), "apple"))
                                .isInstanceOf(LockNotAcquiredException.class);
                        assertThat(application.getBean(Transactions.class).begun)
                                .hasValue(0);
                    },
                    "syncguard.wait-time=0s");
            database.jdbc().execute("TRUNCATE syncguard_locks");
        });
    }

    private static void run(Consumer<ApplicationContext> test, String... properties) {
        database.runner("syncguard.wait-time=30s")
                .withPropertyValues(properties)
                .withUserConfiguration(Beans.class)
                .run(test::accept);
    }

    private static void join(Future<?> end) {
        try {
            end.get(30, TimeUnit.SECONDS);
        } catch (Exception ex) {
            throw new AssertionError(ex);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Beans {

        @Bean
        Stock stock(JdbcTemplate jdbc, LockTemplate locks) {
            return new Stock(jdbc, locks);
        }

        @Bean
        Transactions transactions() {
            return new Transactions();
        }
    }

    static class Transactions implements TransactionExecutionListener {

        private final AtomicInteger begun = new AtomicInteger();

        @Override
        public void beforeBegin(TransactionExecution transaction) {
            begun.incrementAndGet();
        }
    }

    /** Reads the number and writes it plus one, so that two concurrent calls lose an update. */
    static class Stock {

        private final JdbcTemplate jdbc;
        private final LockTemplate locks;
        private final Observations seen = new Observations();

        Stock(JdbcTemplate jdbc, LockTemplate locks) {
            this.jdbc = jdbc;
            this.locks = locks;
        }

        @DistributedLock(name = "stock", key = "#item")
        @Transactional
        public void addLockFirst(String item) {
            add(item);
        }

        @Transactional
        @DistributedLock(name = "stock", key = "#item")
        public void addTransactionFirst(String item) {
            add(item);
        }

        @Transactional
        public void addUnderTemplate(String item) {
            locks.executeWithoutResult(LockRequest.of("stock:" + item), lock -> add(item));
        }

        public Observations seen() {
            return seen;
        }

        private void add(String item) {
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void beforeCompletion() {
                    seen.lockedAtTheEnd = database.lockedKeys();
                }
            });
            int amount = jdbc.queryForObject("SELECT amount FROM stock WHERE item = ?", Integer.class, item);
            jdbc.update("UPDATE stock SET amount = ? WHERE item = ?", amount + 1, item);
            if (seen.fails) {
                throw new IllegalStateException("no apples");
            }
        }
    }

    static final class Observations {

        private volatile List<String> lockedAtTheEnd = List.of();
        private volatile boolean fails;
    }
}
