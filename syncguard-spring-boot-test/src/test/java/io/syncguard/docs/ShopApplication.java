package io.syncguard.docs;

import io.syncguard.DistributedLock;
import io.syncguard.LockOperations;
import io.syncguard.LockRequest;
import io.syncguard.leader.LeaderElection;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Service;

/** The application that the samples of docs/testing.md and docs/first-lock.md test. */
@SpringBootApplication
class ShopApplication {

    @Bean
    PaymentGateway paymentGateway() {
        return orderId -> "paid";
    }

    interface PaymentGateway {
        String charge(String orderId) throws InterruptedException;
    }

    @Service
    static class OrderService {

        private final PaymentGateway payments;

        OrderService(PaymentGateway payments) {
            this.payments = payments;
        }

        @DistributedLock(name = "order", key = "#orderId")
        public String submit(String orderId) throws InterruptedException {
            return payments.charge(orderId);
        }
    }

    /** Locks what docs/first-lock.md locks, without JPA. */
    @Service
    static class ArticleStock {

        @DistributedLock(name = "article", key = "#articleId")
        public void add(String articleId) {}
    }

    @Service
    static class StockService {

        private final LockOperations locks;

        StockService(LockOperations locks) {
            this.locks = locks;
        }

        int reserve(String item) {
            return locks.execute(LockRequest.of("stock:" + item).waitTime(Duration.ofMinutes(1)), lock -> 1);
        }
    }

    @Service
    static class Scheduler {

        private final LeaderElection election;
        private final AtomicInteger runs = new AtomicInteger();

        Scheduler(LeaderElection election) {
            this.election = election;
        }

        boolean runs() {
            return election.isLeader("scheduler") && runs.incrementAndGet() > 0;
        }
    }
}
