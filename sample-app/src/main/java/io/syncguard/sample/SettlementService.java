package io.syncguard.sample;

import io.syncguard.LockHandle;
import io.syncguard.leader.LeaderOnly;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Service;

/**
 * Settles the orders with the accounting, which accepts them from only one instance.
 */
@Service
class SettlementService {

    /** The election of the instance that settles. */
    static final String ELECTION = "settlement";

    private static final Logger LOG = LoggerFactory.getLogger(SettlementService.class);

    private final Orders orders;
    private final Ledger ledger;

    SettlementService(Orders orders, Ledger ledger) {
        this.orders = orders;
        this.ledger = ledger;
    }

    /**
     * Settles all orders. This would run nightly in production. It runs every three seconds here, so that there is
     * something to see.
     */
    @Scheduled(fixedDelayString = "3s")
    @LeaderOnly(ELECTION)
    public void settle() {
        LockHandle leadership = LockHandle.current().orElseThrow();
        long count = orders.count();
        ledger.book(count, leadership.fence());
        LOG.info("Settled {} orders under fence {}", count, leadership.fence());
    }
}
