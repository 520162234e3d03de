package io.syncguard.test;

import io.syncguard.LockStatus;
import java.util.List;
import java.util.stream.Collectors;

/** Describes holders and waiters in the messages of assertions. */
final class LockDescriptions {

    private LockDescriptions() {}

    /** Returns a text such as: held by 'elsewhere' (EXCLUSIVE), and 2 wait. */
    static String of(LockStatus status) {
        String holders = status.holders().isEmpty()
                ? "free"
                : status.holders().stream()
                        .map(holder -> "'" + holder.owner() + "' (" + holder.mode() + ")")
                        .collect(Collectors.joining(", ", "held by ", ""));
        return status.waiters() == 0 ? holders : holders + ", and " + waiters(status.waiters());
    }

    /** Describes all locks that are held, so that a reader of the message finds the key that was meant. */
    static String held(List<LockStatus> locks) {
        return locks.isEmpty()
                ? "No lock is held"
                : locks.stream()
                        .map(lock -> "'" + lock.key() + "' is " + of(lock))
                        .collect(Collectors.joining("; ", "These are not free: ", ""));
    }

    static String waiters(int number) {
        return number == 1 ? "1 waits" : number + " wait";
    }
}
