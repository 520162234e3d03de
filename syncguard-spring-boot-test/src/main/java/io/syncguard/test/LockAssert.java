package io.syncguard.test;

import io.syncguard.LockHandle;
import io.syncguard.LockLimits;
import io.syncguard.LockStatus;
import io.syncguard.RawLockInfo;
import java.util.List;
import org.assertj.core.api.AbstractAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/**
 * Assertions about one key. {@code is…} and {@code has…} check the current state, {@code was…} the time since the test
 * method began. No assertion waits. An assertion that fails throws an {@link AssertionError}, which says who holds the
 * key and which other keys are held.
 */
public final class LockAssert extends AbstractAssert<LockAssert, String> {

    private final LockTestControl control;
    private final String key;

    LockAssert(LockTestControl control, String key) {
        super(key, LockAssert.class);
        this.control = control;
        this.key = LockLimits.key(key);
    }

    /** Verifies that somebody holds the key, in any mode. */
    public LockAssert isHeld() {
        return check(!status().holders().isEmpty(), "to be held");
    }

    /** Verifies that nobody holds the key. */
    public LockAssert isFree() {
        return check(status().holders().isEmpty(), "to be free");
    }

    /** Verifies that a holder of the key has this owner; see {@code syncguard.owner} and {@code LockRequest.owner}. */
    public LockAssert isHeldBy(String owner) {
        return check(
                status().holders().stream().anyMatch(holder -> holder.owner().equals(owner)),
                "to be held by '" + owner + "'");
    }

    /**
     * Verifies that the running thread works under a lock of this key. Useful in a stub that the code under test calls.
     */
    public LockAssert isHeldByCurrentThread() {
        boolean held = LockHandle.current(key).filter(LockHandle::isHeld).isPresent();
        return check(held, "to be held by the thread '" + Thread.currentThread().getName() + "'");
    }

    /** Verifies that this number of callers wait for the key. */
    public LockAssert hasWaiters(int expected) {
        return check(status().waiters() == expected, "to have " + callers(expected) + " for it");
    }

    /** Verifies that the key was granted at least once. */
    public LockAssert wasAcquired() {
        return check(!grants().isEmpty(), "to have been acquired");
    }

    /** Verifies that the key was granted this number of times. A request that joins an outer lock does not count. */
    public LockAssert wasAcquired(int times) {
        return check(
                grants().size() == times,
                "to have been acquired " + times(times) + ", but it was " + times(grants().size()));
    }

    /** Verifies that the key was not granted. */
    public LockAssert wasNeverAcquired() {
        return check(grants().isEmpty(), "not to have been acquired, but it was " + times(grants().size()));
    }

    /** Verifies that the code acquires the key and releases it, on any thread. */
    public LockAssert isAcquiredDuring(ThrowingCallable code) {
        int before = grants().size();
        call(code);
        check(grants().size() > before, "to be acquired by the code");
        return isFree();
    }

    /** Verifies that both keys were never held at the same time. */
    public LockAssert wasNeverHeldTogetherWith(String other) {
        String otherKey = LockLimits.key(other);
        control.history()
                .together(key, otherKey)
                .ifPresent(later -> failWithMessage(
                        "Expected locks '%s' and '%s' never to be held together, but '%s' was granted to '%s'"
                                + " while '%s' was"
                                + " held",
                        key, otherKey, later.key(), later.owner(), later.key().equals(key) ? otherKey : key));
        return this;
    }

    private LockAssert check(boolean holds, String expectation) {
        if (!holds) {
            failWithMessage(
                    "Expected lock '%s' %s. It is %s. %s",
                    key, expectation, LockDescriptions.of(status()), LockDescriptions.held(control.locks()));
        }
        return this;
    }

    private static void call(ThrowingCallable code) {
        try {
            code.call();
        } catch (RuntimeException | Error ex) {
            throw ex;
        } catch (Throwable ex) {
            throw new AssertionError("The code under test failed", ex);
        }
    }

    private LockStatus status() {
        return control.status(key);
    }

    private List<RawLockInfo> grants() {
        return control.history().of(key);
    }

    private static String callers(int number) {
        return number == 1 ? "1 caller who waits" : number + " callers who wait";
    }

    private static String times(int number) {
        return number == 1 ? "once" : number + " times";
    }
}
