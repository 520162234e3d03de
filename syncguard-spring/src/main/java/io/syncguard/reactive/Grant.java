package io.syncguard.reactive;

import io.syncguard.LockHandles;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A lock on its way from the thread that acquired it to the subscription. */
final class Grant {

    private final LockHandles locks;
    private final CompletableFuture<@Nullable Void> handedOver = new CompletableFuture<>();

    /** Read and written by the thread that acquired the locks. */
    private boolean taken;

    Grant(LockHandles locks) {
        this.locks = locks;
    }

    LockHandles locks() {
        return locks;
    }

    /** Returns the locks. From now on, the subscription releases them. */
    LockHandles take() {
        taken = true;
        return locks;
    }

    boolean isTaken() {
        return taken;
    }

    /** Called when the thread that acquired the locks has left the body. */
    void handedOver() {
        handedOver.complete(null);
    }

    /**
     * Completes when the thread that acquired the locks has left the body. Until then, a cancelled body still runs on
     * that thread.
     */
    CompletableFuture<@Nullable Void> whenHandedOver() {
        return handedOver;
    }
}
