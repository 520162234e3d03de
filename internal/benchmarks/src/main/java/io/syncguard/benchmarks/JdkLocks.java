package io.syncguard.benchmarks;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;

/** A contender with locks that implement the JDK's {@link Lock}. */
final class JdkLocks implements PatientContender {

    private final Function<String, ? extends Lock> locks;
    private final Runnable closing;

    JdkLocks(Function<String, ? extends Lock> locks, Runnable closing) {
        this.locks = locks;
        this.closing = closing;
    }

    @Override
    public boolean attempt(String key, Runnable body) {
        Lock lock = locks.apply(key);
        if (!lock.tryLock()) {
            return false;
        }
        runAndUnlock(lock, body);
        return true;
    }

    @Override
    public void await(String key, Runnable body) {
        Lock lock = locks.apply(key);
        lock.lock();
        runAndUnlock(lock, body);
    }

    @Override
    public boolean await(String key, Duration waitTime, Runnable body) throws InterruptedException {
        Lock lock = locks.apply(key);
        if (!lock.tryLock(waitTime.toMillis(), TimeUnit.MILLISECONDS)) {
            return false;
        }
        runAndUnlock(lock, body);
        return true;
    }

    @Override
    public void close() {
        closing.run();
    }

    private static void runAndUnlock(Lock lock, Runnable body) {
        try {
            body.run();
        } finally {
            lock.unlock();
        }
    }
}
