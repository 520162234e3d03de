package io.syncguard.sample;

import io.syncguard.Fence;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import java.time.Duration;
import java.util.Locale;
import org.springframework.stereotype.Service;

/**
 * Reserves articles, so that no more are sold than there are.
 *
 * <p>It uses the template rather than the annotation, because the key is known only after the article number is
 * normalized, and because the body needs the fence of the handle.
 */
@Service
class StockService {

    private static final Duration WAIT_TIME = Duration.ofSeconds(3);

    private final LockTemplate locks;
    private final Stock stock;

    StockService(LockTemplate locks, Stock stock) {
        this.locks = locks;
        this.stock = stock;
    }

    Reservation reserve(String article, int quantity) {
        String sku = article.strip().toUpperCase(Locale.ROOT);
        LockRequest request = LockRequest.of("stock", sku).waitTime(WAIT_TIME);
        return locks.execute(request, lock -> take(sku, quantity, lock.fence()));
    }

    private Reservation take(String sku, int quantity, Fence fence) {
        int available = stock.available(sku);
        if (quantity > available) {
            throw new OutOfStockException(sku, quantity, available);
        }
        int left = available - quantity;
        stock.change(sku, left, fence);
        return new Reservation(sku, quantity, left, fence.value());
    }
}
