package io.syncguard.batching;

import io.syncguard.concurrent.Time;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One request of a {@link Batcher}, and the thread that waits for its answer.
 *
 * @param <Q> the request
 * @param <A> its answer
 */
final class BatchedCall<Q, A> implements Comparable<BatchedCall<?, ?>> {

    enum State {
        /** Waits to be sent. */
        WAITING,
        /** Its caller sends it alone. */
        ALONE,
        /** Under way in a batch, or taken along. */
        SENT,
        /** Has an answer or a failure. */
        ENDED,
        /** Its caller has gone, before it was sent or while it was under way. */
        LEFT
    }

    final Q request;
    final Object key;
    final Object group;

    private final long arrival;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** Guarded by the lock, like the following two. */
    private State state = State.WAITING;

    private @Nullable A answer;
    private @Nullable RuntimeException failure;

    /** @param arrival a unique number, larger than those of earlier calls */
    BatchedCall(Q request, BatchSender<Q, ?> sender, long arrival) {
        this.request = request;
        this.key = sender.keyOf(request);
        this.group = sender.groupOf(request);
        this.arrival = arrival;
    }

    /** @return whether its caller still waits, and it was not sent before */
    boolean sendInBatch() {
        return move(State.WAITING, State.SENT);
    }

    /** @return whether its caller still waits */
    boolean sendAlone() {
        return move(State.WAITING, State.ALONE) || move(State.SENT, State.ALONE);
    }

    /** @return whether its caller still waits, and a batch had it */
    boolean waitAgain() {
        return move(State.SENT, State.WAITING);
    }

    /** @return whether its caller still waits */
    boolean end(@Nullable A answer, @Nullable RuntimeException failure) {
        lock.lock();
        try {
            this.answer = answer;
            this.failure = failure;
            return move(State.SENT, State.ENDED);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until the call ends or has to be sent alone. The caller leaves if it is interrupted, which leaves the flag
     * set, or if the call is not sent or not answered in time.
     *
     * @return the last state before the caller left, otherwise {@code ALONE} or {@code ENDED}
     */
    State await(Time time, long sendBy, long answerBy) {
        lock.lock();
        try {
            while (isPending()) {
                // The statement of the batch may have begun late, and has a limit of its own.
                long left = (state == State.SENT ? answerBy : sendBy) - time.nanoTime();
                if (left <= 0) {
                    break;
                }
                time.await(changed, left);
            }
            return leave();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            return leave();
        } finally {
            lock.unlock();
        }
    }

    A answer() {
        lock.lock();
        try {
            if (failure != null) {
                throw failure;
            }
            return Objects.requireNonNull(answer);
        } finally {
            lock.unlock();
        }
    }

    boolean hasLeft() {
        lock.lock();
        try {
            return state == State.LEFT;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public int compareTo(BatchedCall<?, ?> other) {
        return Long.compare(arrival, other.arrival);
    }

    private State leave() {
        State last = state;
        if (isPending()) {
            state = State.LEFT;
        }
        return last;
    }

    private boolean isPending() {
        return state == State.WAITING || state == State.SENT;
    }

    private boolean move(State from, State to) {
        lock.lock();
        try {
            if (state != from) {
                return false;
            }
            state = to;
            if (to != State.SENT) {
                // A caller whose request is sent sleeps on: it may now wait longer.
                changed.signal();
            }
            return true;
        } finally {
            lock.unlock();
        }
    }
}
