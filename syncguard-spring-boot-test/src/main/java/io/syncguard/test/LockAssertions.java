package io.syncguard.test;

/**
 * Entry point of assertions about locks in memory.
 *
 * <pre>{@code
 * assertThatLock("order:42").isHeld();
 * }</pre>
 */
public final class LockAssertions {

    private LockAssertions() {}

    /**
     * Begins an assertion about the key, in the application context of the running test.
     *
     * @throws io.syncguard.IllegalKeyException if the key breaks the {@linkplain io.syncguard.LockLimits#key limits}
     * @throws IllegalStateException when no test with {@code @AutoConfigureTestLocks} runs, or several run at once and
     *     this thread belongs to none of them
     */
    public static LockAssert assertThatLock(String key) {
        return assertThatLock(RunningTests.control(), key);
    }

    /**
     * Begins an assertion about the key, in the application context or on the backend of this control.
     *
     * @throws io.syncguard.IllegalKeyException if the key breaks the {@linkplain io.syncguard.LockLimits#key limits}
     */
    public static LockAssert assertThatLock(LockTestControl control, String key) {
        return new LockAssert(control, key);
    }
}
