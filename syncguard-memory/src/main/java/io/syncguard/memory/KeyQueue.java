package io.syncguard.memory;

import io.syncguard.LockMode;
import io.syncguard.LockStatus;
import io.syncguard.spi.AcquireRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The waiters of one key, in the order of their arrival. The lock of the store guards it. */
final class KeyQueue {

    private final List<QueueEntry> entries = new ArrayList<>();

    /** Whether one has to wait for the other: always, unless both are readers without a limit. */
    static boolean conflict(AcquireRequest one, AcquireRequest other) {
        return blocksReaders(one) || blocksReaders(other);
    }

    /** Whether the request is exclusive, or has permits. */
    static boolean blocksReaders(AcquireRequest waiting) {
        return waiting.mode() == LockMode.EXCLUSIVE || waiting.permits() > 0;
    }

    QueueEntry add(QueueEntry entry) {
        entries.add(entry);
        return entry;
    }

    void remove(@Nullable QueueEntry entry) {
        entries.remove(entry);
    }

    void removeLapsed(long now) {
        entries.removeIf(entry -> !entry.isLive(now));
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }

    List<QueueEntry> entries() {
        return List.copyOf(entries);
    }

    List<QueueEntry> live(long now) {
        return entries.stream().filter(entry -> entry.isLive(now)).toList();
    }

    List<LockStatus.Waiter> status(long now) {
        return live(now).stream().map(QueueEntry::status).toList();
    }

    @Nullable
    QueueEntry find(String lockId) {
        return entries.stream()
                .filter(entry -> entry.lockId().equals(lockId))
                .findFirst()
                .orElse(null);
    }

    @Nullable
    QueueEntry first() {
        return entries.isEmpty() ? null : entries.get(0);
    }

    /** The entries behind this one. */
    List<QueueEntry> behind(QueueEntry entry) {
        return List.copyOf(entries.subList(entries.indexOf(entry) + 1, entries.size()));
    }

    /** The conflicting waiters in front of this entry, or in front of a caller without an entry. */
    List<QueueEntry> inFront(@Nullable QueueEntry own, AcquireRequest request) {
        return inFront(own).filter(entry -> conflict(entry.request(), request)).toList();
    }

    boolean isFirst(QueueEntry entry) {
        return inFront(entry, entry.request()).isEmpty();
    }

    boolean isFirstOrBehindFirstReaders(QueueEntry entry) {
        return inFront(entry, entry.request()).stream().noneMatch(front -> blocksReaders(front.request()));
    }

    private Stream<QueueEntry> inFront(@Nullable QueueEntry own) {
        return entries.stream().takeWhile(entry -> entry != own);
    }
}
