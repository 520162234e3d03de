package io.syncguard.sample;

import java.time.Duration;

/**
 * Pauses where a real order service would wait for other services. All pretended durations of the sample are here.
 *
 * <p>An interrupt ends the pause. It tells the work that its lock was lost.
 */
final class PretendWork {

    /**
     * The response time of a payment provider. Long enough for the other nineteen submissions to find the order locked.
     */
    private static final Duration PAYMENT = Duration.ofMillis(1500);

    /** The time of a printer for one price label. Long enough for readers to arrive while a price list is rewritten. */
    private static final Duration LABEL = Duration.ofMillis(500);

    /** The response time of a partner. Long enough to see which requests run and which wait. */
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
