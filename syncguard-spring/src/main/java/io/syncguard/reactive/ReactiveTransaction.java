package io.syncguard.reactive;

import io.syncguard.CommitGuard;
import io.syncguard.LockHandle;
import io.syncguard.LockHandles;
import io.syncguard.LockLostException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * The locks that wait for the end of one reactive transaction. Their bodies have ended, and the next holder must see
 * what the transaction wrote. Until then, a further request of the transaction for one of their keys joins them: it
 * would wait for itself. Thread-safe.
 */
final class ReactiveTransaction {

    private static final boolean SPRING_HAS_TRANSACTIONS = ClassUtils.isPresent(
            "org.springframework.transaction.reactive.TransactionContext", ReactiveTransaction.class.getClassLoader());

    /** For a subscription in no transaction. */
    private static final ReactiveTransaction NONE = noneWithin(null);

    private final @Nullable ReactiveTransaction suspended;

    /** Guarded by this object, like the fields below. */
    private final List<Pending> pending = new ArrayList<>(0);

    /** The lock ids of those that a running body has joined. */
    private final Set<String> taken = new HashSet<>(0);

    /** The keys of each acquisition under way, in the order in which they began. */
    private final Map<ReactiveAcquisition, Set<String>> acquisitions = new LinkedHashMap<>(0);

    private boolean completed;

    /** @param suspended the transaction around this one, which waits for it; {@code null} if there is none */
    ReactiveTransaction(@Nullable ReactiveTransaction suspended) {
        this.suspended = suspended;
    }

    /** Returns the transaction in which a subscription runs. */
    static ReactiveTransaction of(ContextView context) {
        return SPRING_HAS_TRANSACTIONS ? TransactionCompletion.current(context) : NONE;
    }

    /** For a subscription that takes part in no transaction, although one is suspended around it. */
    static ReactiveTransaction noneWithin(@Nullable ReactiveTransaction suspended) {
        ReactiveTransaction none = new ReactiveTransaction(suspended);
        none.completed = true;
        return none;
    }

    boolean hasPending() {
        return allPending().findAny().isPresent();
    }

    /**
     * Takes the pending locks of these keys, of this transaction and of those around it, for one body to join. Two
     * bodies that joined a lock would not exclude each other.
     */
    List<LockHandle> take(Set<String> keys) {
        return allPending()
                .filter(lock -> keys.contains(lock.key()) && take(lock))
                .toList();
    }

    void giveBack(List<LockHandle> locks) {
        synchronized (this) {
            locks.forEach(lock -> taken.remove(lock.lockId()));
        }
        if (suspended != null) {
            suspended.giveBack(locks);
        }
    }

    /** An acquisition begins. It is repeated if it can join a lock meanwhile. */
    synchronized void begin(ReactiveAcquisition acquisition, Set<String> keys) {
        if (!completed) {
            acquisitions.put(acquisition, keys);
        }
    }

    void end(ReactiveAcquisition acquisition) {
        Set<String> keys;
        synchronized (this) {
            keys = acquisitions.remove(acquisition);
        }
        if (keys != null) {
            // It may not have used what it was offered.
            offer(allPending().filter(lock -> keys.contains(lock.key())).toList());
        }
    }

    /** Each of these locks that is pending is offered to one acquisition. */
    void offer(List<LockHandle> locks) {
        for (LockHandle lock : locks) {
            waitingFor(lock).stream().filter(ReactiveAcquisition::repeat).findFirst();
        }
    }

    /**
     * Takes over locks whose body has ended.
     *
     * @param outer the locks around the body
     * @return those that are to be closed now: all of them if no transaction is open; those that joined another lock,
     *     which ends later; and lost ones, which nothing waits for
     */
    LockHandles endBody(LockHandles locks, HeldLocks outer, ReactiveThreads threads) {
        Set<LockHandle> later = new LinkedHashSet<>(locks.all());
        later.removeIf(lock -> !lock.isHeld() || outer.hasLease(lock) || isPending(lock));
        if (later.isEmpty()) {
            return locks;
        }
        LockHandles now = LockHandles.of(
                locks.all().stream().filter(lock -> !later.contains(lock)).toList());
        LockHandles together = now.all().isEmpty() ? locks : LockHandles.of(List.copyOf(later));
        synchronized (this) {
            if (completed) {
                return locks;
            }
            pending.add(new Pending(together, later, threads));
        }
        return now;
    }

    /**
     * Fails if one of the locks is lost, unless its request wants no guard.
     *
     * @return fails with a {@link LockLostException}
     */
    synchronized Mono<Void> requireHeld() {
        return Mono.when(pending.stream().map(Pending::requireHeld).toList());
    }

    /** The transaction has ended: releases its locks. */
    Mono<Void> completed() {
        List<Pending> all;
        synchronized (this) {
            completed = true;
            all = List.copyOf(pending);
            pending.clear();
        }
        return Mono.when(all.stream().map(Pending::release).toList());
    }

    synchronized boolean isCompleted() {
        return completed;
    }

    @Nullable
    ReactiveTransaction suspended() {
        return suspended;
    }

    private synchronized Stream<LockHandle> allPending() {
        List<LockHandle> own =
                pending.stream().flatMap(each -> each.locks.stream()).toList();
        return suspended == null ? own.stream() : Stream.concat(own.stream(), suspended.allPending());
    }

    private boolean isPending(LockHandle lock) {
        return allPending().anyMatch(each -> each.lockId().equals(lock.lockId()));
    }

    private synchronized boolean take(LockHandle lock) {
        return taken.add(lock.lockId());
    }

    private synchronized List<ReactiveAcquisition> waitingFor(LockHandle lock) {
        return taken.contains(lock.lockId()) || !isPending(lock)
                ? List.of()
                : acquisitions.entrySet().stream()
                        .filter(each -> each.getValue().contains(lock.key()))
                        .map(Map.Entry::getKey)
                        .toList();
    }

    /**
     * The locks of one body.
     *
     * @param toClose closes them together
     */
    private record Pending(LockHandles toClose, Set<LockHandle> locks, ReactiveThreads threads) {

        Mono<Void> requireHeld() {
            List<LockHandle> lost = locks.stream()
                    .filter(lock -> !lock.isHeld() && lock.request().commitGuard() != CommitGuard.OFF)
                    .toList();
            return lost.isEmpty() ? Mono.empty() : threads.close(LockHandles.of(lost));
        }

        /** A loss has been reported: before the commit, or by the log. */
        Mono<Void> release() {
            return threads.close(toClose).onErrorComplete();
        }
    }
}
