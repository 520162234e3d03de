package io.syncguard.sample;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import java.time.Duration;
import org.springframework.stereotype.Service;

/**
 * Makes reports that take longer than the ttl of their lock.
 */
@Service
class ReportService {

    private final RunningInstance instance;

    ReportService(RunningInstance instance) {
        this.instance = instance;
    }

    /**
     * Makes the report, one at a time for each id. If this process dies, others wait for the short ttl. While it lives,
     * the heartbeat extends the lease.
     */
    @DistributedLock(name = "report", key = "#id", ttl = "3s", waitTime = "10s")
    public Report create(String id, int seconds) throws InterruptedException {
        PretendWork.computeReport(Duration.ofSeconds(seconds));
        LockHandle lock = LockHandle.current().orElseThrow();
        return new Report(id, seconds, lock.fence().value(), instance.describe());
    }
}
