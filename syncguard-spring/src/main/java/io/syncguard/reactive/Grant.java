package io.syncguard.reactive;

import io.syncguard.LockHandle;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A lock on its way from the thread that acquired it to the subscription. */
final class Grant {

    private final LockHandle lock;
    private final CompletableFuture<@Nullable Void> handedOver = new CompletableFuture<>();

    /** Read and written by the thread that acquired the lock. */
    private boolean taken;

    Grant(LockHandle lock) {
        this.lock = lock;
    }

    LockHandle lock() {
        return lock;
    }

    /** Returns the lock. From now on, the subscription releases it. */
    LockHandle take() {
        taken = true;
        return lock;
    }

    boolean isTaken() {
        return taken;
    }

    /** Called when the thread that acquired the lock has left the body. */
    void handedOver() {
        handedOver.complete(null);
    }

    /**
     * Completes when the thread that acquired the lock has left the body. Until then, a cancelled body still runs on
     * that thread.
     */
    CompletableFuture<@Nullable Void> whenHandedOver() {
        return handedOver;
    }
}
