package io.syncguard.sample;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import org.springframework.stereotype.Service;

/**
 * Asks partners for prices. A partner accepts three requests at a time from all instances together.
 */
@Service
class QuoteService {

    private final RunningInstance instance;

    QuoteService(RunningInstance instance) {
        this.instance = instance;
    }

    /** Asks under one of three permits. Further callers wait for a permit. */
    @DistributedLock(name = "partner-api", key = "#partner", permits = "3", waitTime = "10s")
    public Quote ask(String partner) throws InterruptedException {
        int cents = PretendWork.askPartner();
        LockHandle permit = LockHandle.current().orElseThrow();
        return new Quote(partner, cents, permit.fence().value(), instance.describe());
    }
}
