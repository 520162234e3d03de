package io.syncguard.sample;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Shows the price list and changes it.
 */
@RestController
final class PriceListController {

    private static final int MAX_PERCENT = 50;

    private final PriceListService priceList;

    PriceListController(PriceListService priceList) {
        this.priceList = priceList;
    }

    @GetMapping("/prices")
    PriceList read() {
        return priceList.read();
    }

    @PostMapping("/prices/change")
    PriceList change(@RequestParam int percent) throws InterruptedException {
        return priceList.change(Parameters.between(-MAX_PERCENT, MAX_PERCENT, "percent", percent));
    }
}
