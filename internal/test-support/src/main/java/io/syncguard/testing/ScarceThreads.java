package io.syncguard.testing;

import java.util.concurrent.ThreadFactory;

/** Makes threads until a test takes all of them away: then their start fails, as in a JVM that can make no more. */
public final class ScarceThreads implements ThreadFactory {

    public volatile boolean exhausted;

    /** The error of the JVM, but no OutOfMemoryError: a test that does not catch one ends JUnit itself. */
    public static Error shortage() {
        return new InternalError("unable to create native thread: as the test wants it");
    }

    /** The pools of JDK 25 start a thread without its {@link Thread#start}, so it is not even made. */
    @Override
    public Thread newThread(Runnable work) {
        if (exhausted) {
            throw shortage();
        }
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
