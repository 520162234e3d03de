package io.syncguard.verification.queue;

/** A server that counts, and that sends the wake-ups by itself. */
public interface CountingQueueServer extends QueueServer {

    /** The number of requests that the server has answered. */
    long requests();

    /** The number of wake-ups that the server has sent. */
    long wakeUps();
}
