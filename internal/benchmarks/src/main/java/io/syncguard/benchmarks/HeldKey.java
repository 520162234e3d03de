package io.syncguard.benchmarks;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A thread that waits for a key and holds it until {@link #end}. */
final class HeldKey {

    private static final long PATIENCE_SECONDS = 60;

    private final CompletableFuture<Long> began = new CompletableFuture<>();
    private final CompletableFuture<Boolean> over = new CompletableFuture<>();
    private final CompletableFuture<Long> ended = new CompletableFuture<>();

    /** The call that waits. */
    @FunctionalInterface
    interface Wait {
        void run(Runnable body) throws Exception;
    }

    HeldKey(Wait wait) {
        Thread thread = new Thread(() -> hold(wait), "holder");
        thread.setDaemon(true);
        thread.start();
    }

    /** Waits for the beginning of the body, and returns its time. */
    long began() throws Exception {
        return began.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    /** Ends the body, which releases the key, and returns the time of its end. */
    long end() throws Exception {
        over.complete(true);
        return ended.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    private void hold(Wait wait) {
        try {
            wait.run(() -> {
                began.complete(System.nanoTime());
                over.join();
                ended.complete(System.nanoTime());
            });
        } catch (Exception | Error ex) {
            began.completeExceptionally(ex);
            ended.completeExceptionally(ex);
        }
    }
}
