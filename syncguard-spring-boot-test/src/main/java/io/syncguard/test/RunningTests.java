package io.syncguard.test;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The controls of the test methods that run now. {@link LockAssertions} needs them, because its static methods know no
 * application context.
 */
final class RunningTests {

    /** The controls of all threads. Guarded by itself. */
    private static final List<LockTestControl> ALL = new ArrayList<>();

    /**
     * The control of the test method that runs on this thread, or has started it. A pooled thread may outlive its test.
     */
    private static final ThreadLocal<@Nullable LockTestControl> OF_THREAD = new InheritableThreadLocal<>();

    private RunningTests() {}

    static void begin(LockTestControl control) {
        OF_THREAD.set(control);
        synchronized (ALL) {
            ALL.add(control);
        }
    }

    static void end(LockTestControl control) {
        OF_THREAD.remove();
        synchronized (ALL) {
            ALL.remove(control);
        }
    }

    /**
     * Returns the control of the test to which this thread belongs. On another thread, such as one of a web server,
     * returns that of the only running test.
     */
    static LockTestControl control() {
        List<LockTestControl> running;
        synchronized (ALL) {
            running = ALL.stream().distinct().toList();
        }
        LockTestControl own = OF_THREAD.get();
        if (own != null && running.contains(own)) {
            return own;
        }
        if (running.size() == 1) {
            return running.get(0);
        }
        throw new IllegalStateException(
                running.isEmpty()
                        ? "No test with @AutoConfigureTestLocks runs. Annotate the test class, or pass the"
                                + " LockTestControl"
                                + " of another context: assertThatLock(control, key)"
                        : "Several tests run at once, and this thread belongs to none of them. Pass the"
                                + " LockTestControl:"
                                + " assertThatLock(control, key)");
    }
}
