package io.syncguard.benchmarks;

import java.time.Duration;

/** A contender whose callers can wait for a limited time. */
interface PatientContender extends WaitingContender {

    /** Waits for the key for at most this time, and runs the body under the lock if it is granted. */
    boolean await(String key, Duration waitTime, Runnable body) throws Exception;
}
