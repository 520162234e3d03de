package io.syncguard.core;

import io.syncguard.LockBackendException;
import io.syncguard.LockReason;
import java.util.List;

/**
 * Why a lease was lost.
 *
 * @param explanation a clause for messages, such as {@code it was released by force}
 * @param errors of the last extensions, which failed after the last confirmed one
 */
record Loss(LockReason reason, String explanation, List<LockBackendException> errors) {

    static final Loss RELEASED = new Loss(LockReason.RELEASED, "it had been released before", List.of());
}
