package io.syncguard.sample;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockMode;
import java.util.Map;
import org.springframework.stereotype.Service;

/**
 * The price list. Many callers read it, and one rewrites it now and then, price by price. Without a lock, a reader
 * could see prices of two editions.
 */
@Service
class PriceListService {

    private static final String LOCK = "price-list";

    private final Prices prices;

    PriceListService(Prices prices) {
        this.prices = prices;
    }

    /** Reads the list together with other readers, and never while it is rewritten. */
    @DistributedLock(name = LOCK, mode = LockMode.SHARED)
    public PriceList read() {
        return prices.read();
    }

    /** Rewrites the list after the current readers have ended. New readers wait. */
    @DistributedLock(name = LOCK)
    public PriceList change(int percent) throws InterruptedException {
        LockHandle lock = LockHandle.current().orElseThrow();
        for (Map.Entry<String, Integer> price : prices.read().prices().entrySet()) {
            prices.write(
                    price.getKey(),
                    price.getValue() * (100 + percent) / 100,
                    lock.fence().value());
            PretendWork.printLabel();
        }
        return prices.read();
    }
}
