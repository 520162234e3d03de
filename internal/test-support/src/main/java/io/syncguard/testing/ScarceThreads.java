package io.syncguard.testing;

import java.util.concurrent.ThreadFactory;

/** Creates threads until the test simulates a shortage. Then each start fails, as in a JVM that can create no more. */
public final class ScarceThreads implements ThreadFactory {

    public volatile boolean exhausted;

    /** An error like that of the JVM, but no OutOfMemoryError: an uncaught one would end JUnit itself. */
    public static Error shortage() {
        return new InternalError("unable to create native thread: as the test wants it");
    }

    /** Fails here as well, because the pools of JDK 25 start a thread without its {@link Thread#start}. */
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
