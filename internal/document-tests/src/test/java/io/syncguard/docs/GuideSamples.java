package io.syncguard.docs;

import io.syncguard.CommitGuard;
import io.syncguard.DistributedLock;
import io.syncguard.Fence;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockMode;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.TryResult;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderOnly;
import io.syncguard.leader.LeaderRegistration;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.annotation.Transactional;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The samples of the documents, compiled. {@link DocumentationTests} checks that both are equal. */
class GuideSamples {

    // sample: collection
    @DistributedLock(name = "account", key = "{#from, #to}")
    void transfer(String from, String to, long cents) {
        // both accounts are locked
    }
    // end

    // sample: nested
    @DistributedLock(key = "{'order:' + #order, 'customer:' + #customer}") // two names, so none in front
    void bill(String order, String customer) {
        // may call methods that lock order:… or customer:…
    }
    // end

    // sample: guarded
    @DistributedLock(name = "account", key = "{#from, #to}", commitGuard = CommitGuard.REQUIRED)
    @Transactional
    public void move(String from, String to, long cents) {
        // load and change both accounts
    }
    // end

    // sample: shared
    @DistributedLock(name = "price-list", mode = LockMode.SHARED)
    PriceList readPrices() {
        return prices(); // together with other readers
    }

    @DistributedLock(name = "price-list")
    void publishPrices(PriceList changed) {
        write(changed); // alone: all readers have finished, and new ones wait
    }
    // end

    // sample: permits
    @DistributedLock(name = "partner-api", key = "#partner", permits = "5", waitTime = "10s")
    Quote ask(String partner) {
        return quote(partner); // at most five callers, over all instances
    }
    // end

    // sample: fallback
    @DistributedLock(name = "prices", key = "#sku", waitTime = "200ms", fallback = "storedPrice")
    long currentPrice(String sku) {
        return askSupplier(sku);
    }

    long storedPrice(String sku, LockNotAcquiredException refusal) {
        return stored(sku); // without the lock
    }
    // end

    /** How long a call of the bank may take. */
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    // sample: receiver-check
    void pay(String transfer, long cents) {
        locks.executeWithoutResult(LockRequest.of("transfer", transfer), lock -> {
            if (lock.remaining().compareTo(TIMEOUT) < 0) {
                throw new IllegalStateException("Too little time is left. Nothing was sent");
            }
            bank(transfer, cents); // TIMEOUT limits the whole call: connect, send, answer
        });
    }
    // end

    // sample: reactive
    @DistributedLock(name = "import", key = "#file")
    Mono<Long> importLines(String file) {
        return lines(file).doOnNext(GuideSamples::store).count(); // locked until this ends
    }
    // end

    // sample: leader-only
    @Scheduled(cron = "0 0 3 * * *")
    @LeaderOnly("settlement")
    void settle() {
        // runs on the one instance that leads; the others leave it out
    }
    // end

    // sample: leader-task
    @Bean
    LeaderRegistration dispatching(LeaderElection election) {
        return election.member("dispatcher").runWhileLeader(term -> {
            while (term.isLeader()) {
                String order = orders.take(); // is interrupted when the term ends
                try {
                    dispatch(order, term.fence());
                } catch (RuntimeException ex) {
                    log.error("Order " + order + " was not dispatched", ex); // and go on
                }
            }
        });
    }
    // end

    private static final Log log = LogFactory.getLog(GuideSamples.class);

    private final LockTemplate locks;
    private final LockManager manager;
    private final BlockingQueue<String> orders;

    GuideSamples(LockTemplate locks, LockManager manager, BlockingQueue<String> orders) {
        this.locks = locks;
        this.manager = manager;
        this.orders = orders;
    }

    Receipt template(String orderId) {
        // sample: template
        return locks.execute(LockRequest.of("order", orderId), lock -> charge(orderId));
        // end
    }

    void several(String from, String to, long cents) {
        // sample: several
        List<LockRequest> accounts = List.of(LockRequest.of("account", from), LockRequest.of("account", to));
        locks.executeWithoutResult(accounts, held -> transfer(from, to, cents));
        // end
    }

    Receipt tryTemplate(String orderId) throws IOException {
        // sample: try
        LockRequest request = LockRequest.of("order", orderId).ttl(Duration.ofSeconds(10));
        TryResult<Receipt> receipt = locks.tryExecute(request, lock -> send(orderId)); // may throw an IOException
        return receipt.acquired() ? receipt.value() : rejected(orderId);
        // end
    }

    void handle(String orderId) {
        // sample: handle
        try (LockHandle lock = manager.tryAcquire(LockRequest.of("order", orderId))) {
            if (lock != null) {
                charge(orderId);
            }
        }
        // end
    }

    void lost(List<String> rows) {
        // sample: lost
        locks.executeWithoutResult(LockRequest.of("import"), lock -> {
            for (String row : rows) {
                if (!lock.isHeld()) {
                    return; // LockLostException follows
                }
                write(row, lock.fence());
            }
        });
        // end
    }

    private static Quote quote(String partner) {
        return new Quote(partner);
    }

    private static void bank(String transfer, long cents) {}

    private static void dispatch(String order, Fence fence) {}

    private static Receipt send(String orderId) throws IOException {
        if (orderId.isBlank()) {
            throw new IOException("no such order");
        }
        return charge(orderId);
    }

    private static Receipt rejected(String orderId) {
        return new Receipt("rejected " + orderId);
    }

    private static long askSupplier(String sku) {
        return sku.length();
    }

    private static long stored(String sku) {
        return 0;
    }

    private static Receipt charge(String orderId) {
        return new Receipt(orderId);
    }

    private static Flux<String> lines(String file) {
        return Flux.empty();
    }

    private static void store(String line) {}

    private static PriceList prices() {
        return new PriceList();
    }

    private static void write(PriceList prices) {}

    private static void write(String row, Fence fence) {}

    record Receipt(String orderId) {}

    record PriceList() {}

    record Quote(String partner) {}
}
