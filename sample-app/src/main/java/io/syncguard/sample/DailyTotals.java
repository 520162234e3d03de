package io.syncguard.sample;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.OnContention;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * A job that every instance schedules and only one of them runs each time.
 */
@Component
class DailyTotals {

    private static final Logger LOG = LoggerFactory.getLogger(DailyTotals.class);

    private final Orders orders;

    DailyTotals(Orders orders) {
        this.orders = orders;
    }

    /**
     * Runs every ten seconds, so that there is something to see. The work takes milliseconds. {@code holdAtLeast} keeps
     * the lock taken for most of the period, so that an instance whose clock is behind finds it taken, too.
     */
    @Scheduled(cron = "*/10 * * * * *")
    @DistributedLock(name = "daily-totals", onContention = OnContention.SKIP, holdAtLeast = "8s")
    public void logTotals() {
        LockHandle lock = LockHandle.current().orElseThrow();
        LOG.info("Daily totals: {} orders processed today (fence {})", orders.countToday(), lock.fence());
    }
}
