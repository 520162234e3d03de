package io.syncguard.aop;

import io.syncguard.LockRequest;
import org.jspecify.annotations.Nullable;

/**
 * One lock of a call.
 *
 * @param lock the request for it
 * @param resource the resource whose fence is checked in the transaction of the call; {@code null} for none
 */
record FencedRequest(LockRequest lock, @Nullable String resource) {}
