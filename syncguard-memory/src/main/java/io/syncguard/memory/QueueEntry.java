package io.syncguard.memory;

import io.syncguard.LockStatus;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ReleaseResult.HandOver;
import java.time.Instant;
import java.util.Optional;

/** A waiter in the queue of a key. The lock of the store guards it. */
final class QueueEntry {

    /** The last request, whose number identifies the waiter. */
    private AcquireRequest request;

    private final WaitingProcess process;
    private final long arrivedAt;
    private long expiresAt;

    QueueEntry(AcquireRequest request, WaitingProcess process, long now) {
        this.request = request;
        this.process = process;
        this.arrivedAt = now;
    }

    AcquireRequest request() {
        return request;
    }

    String lockId() {
        return request.lockId();
    }

    long expiresAt() {
        return expiresAt;
    }

    boolean isLive(long now) {
        return expiresAt > now;
    }

    void expireAt(long end) {
        expiresAt = end;
    }

    /** A further attempt of the waiter, under a new number. */
    void renew(AcquireRequest attempt, long end) {
        request = attempt;
        expiresAt = end;
    }

    void wake() {
        Long number = request.waiterNumber();
        if (number != null) {
            process.wake(number);
        }
    }

    boolean acceptsHandOver() {
        return request.handOver() && process.isListening();
    }

    /** Returns what the answer to the release tells the waiter; one of another process receives a message instead. */
    Optional<HandOver> handOver(AcquireResult.Granted grant, WaitingProcess releasing) {
        Long number = request.waiterNumber();
        if (number != null && process == releasing) {
            return Optional.of(new HandOver(number, grant));
        }
        if (number != null) {
            process.handOver(number, grant);
        }
        return Optional.empty();
    }

    LockStatus.Waiter status() {
        return new LockStatus.Waiter(
                request.mode(), request.permits(), request.owner(), Instant.ofEpochMilli(arrivedAt));
    }
}
