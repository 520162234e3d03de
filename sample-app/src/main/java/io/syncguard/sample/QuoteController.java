package io.syncguard.sample;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/**
 * Shows the prices of partners.
 */
@RestController
final class QuoteController {

    private final QuoteService quotes;

    QuoteController(QuoteService quotes) {
        this.quotes = quotes;
    }

    @GetMapping("/quotes/{partner}")
    Quote ask(@PathVariable String partner) throws InterruptedException {
        return quotes.ask(partner);
    }
}
