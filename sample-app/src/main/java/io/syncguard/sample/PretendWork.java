package io.syncguard.sample;

import java.time.Duration;

/**
 * Pauses where a real order service would wait for others. Every pretended duration of the sample stands here.
 *
 * <p>An interrupt ends the pause: it is how work learns that its lock was lost.
 */
final class PretendWork {

    /** The answer of a payment provider. Long enough for the other nineteen submissions to find the order locked. */
    private static final Duration PAYMENT = Duration.ofMillis(1500);

    /** The printer of price labels. Long enough for others to come while a price list is rewritten. */
    private static final Duration LABEL = Duration.ofMillis(500);

    /** The answer of a partner. Long enough to see which requests run and which wait. */
    private static final Duration QUOTE = Duration.ofMillis(1500);

    private static final int PRICE_IN_CENTS = 990;

    private PretendWork() {}

    static void chargePayment() throws InterruptedException {
        Thread.sleep(PAYMENT.toMillis());
    }

    static void printLabel() throws InterruptedException {
        Thread.sleep(LABEL.toMillis());
    }

    static int askPartner() throws InterruptedException {
        Thread.sleep(QUOTE.toMillis());
        return PRICE_IN_CENTS;
    }

    static void computeReport(Duration length) throws InterruptedException {
        Thread.sleep(length.toMillis());
    }
}
