package io.syncguard.testing;

import java.util.concurrent.ThreadFactory;

/** Makes threads until a test takes all of them away: then their start fails, as in a JVM that can make no more. */
public final class ScarceThreads implements ThreadFactory {

    public volatile boolean exhausted;

    /** The error of the JVM, but no OutOfMemoryError: a test that does not catch one ends JUnit itself. */
    public static Error shortage() {
        return new InternalError("unable to create native thread: as the test wants it");
    }

    @Override
    public Thread newThread(Runnable work) {
        return new Thread(work) {
            @Override
            public void start() {
                if (exhausted) {
                    throw shortage();
                }
                super.start();
            }
        };
    }
}
