package io.syncguard.frameworks.web;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.syncguard.DistributedLock;
import io.syncguard.testing.CapturedLog;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Options;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.annotations.Update;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionTemplate;

/** A mapper reads again under the lock what its transaction has read before. */
@FrameworkTest
@Timeout(60)
class MyBatisTests {

    private static final int ORDERS = 5;

    @Autowired
    private Orders orders;

    @Autowired
    private Stock stock;

    @Autowired
    private TransactionTemplate transaction;

    @Autowired
    private JdbcClient jdbc;

    @BeforeEach
    void reset() {
        jdbc.sql("UPDATE stock SET amount = 0").update();
    }

    @Test
    void no_update_is_lost_with_a_statement_that_flushes_the_cache() {
        CyclicBarrier allHaveRead = new CyclicBarrier(ORDERS);
        List<CompletableFuture<Void>> all = IntStream.range(0, ORDERS)
                .mapToObj(i -> CompletableFuture.runAsync(
                        () -> transaction.executeWithoutResult(status -> {
                            stock.read();
                            await(allHaveRead);
                            orders.add();
                        }),
                        task -> new Thread(task).start()))
                .toList();
        all.forEach(CompletableFuture::join);

        assertThat(stock.read()).isEqualTo(ORDERS);
    }

    @Test
    void the_log_says_that_a_session_was_open_before_the_lock() {
        try (CapturedLog log = new CapturedLog(Level.DEBUG)) {
            transaction.executeWithoutResult(status -> {
                stock.read();
                orders.add();
            });

            assertThat(log.messages()).anyMatch(message -> message.contains("MyBatis"));
        }
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await(10, TimeUnit.SECONDS);
        } catch (Exception ex) {
            throw new IllegalStateException(ex);
        }
    }

    @Mapper
    interface Stock {

        @Select("SELECT amount FROM stock")
        @Options(flushCache = Options.FlushCachePolicy.TRUE)
        long read();

        @Update("UPDATE stock SET amount = #{amount}")
        void write(long amount);
    }

    static class Orders {

        private final Stock stock;

        Orders(Stock stock) {
            this.stock = stock;
        }

        @DistributedLock(name = "stock", waitTime = "30s")
        public void add() {
            stock.write(stock.read() + 1);
        }
    }
}
