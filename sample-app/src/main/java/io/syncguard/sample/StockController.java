package io.syncguard.sample;

import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Accepts reservations.
 */
@RestController
final class StockController {

    private static final int MAX_QUANTITY = 1000;

    private final StockService stock;

    StockController(StockService stock) {
        this.stock = stock;
    }

    @PostMapping("/stock/{sku}/reserve")
    Reservation reserve(@PathVariable String sku, @RequestParam int quantity) {
        return stock.reserve(sku, Parameters.between(1, MAX_QUANTITY, "quantity", quantity));
    }
}
