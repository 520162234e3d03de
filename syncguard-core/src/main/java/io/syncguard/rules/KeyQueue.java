package io.syncguard.rules;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The waiters of a key, in the order of their arrival, while a rule works on them. */
final class KeyQueue {

    private final List<QueueEntry> entries;

    KeyQueue(List<QueueEntry> entries) {
        this.entries = new ArrayList<>(entries);
    }

    List<QueueEntry> entries() {
        return entries;
    }

    void add(QueueEntry entry) {
        entries.add(entry);
    }

    QueueEntry replace(QueueEntry old, QueueEntry other) {
        entries.set(entries.indexOf(old), other);
        return other;
    }

    void remove(@Nullable QueueEntry entry) {
        entries.remove(entry);
    }

    void removeLapsed(long now) {
        entries.removeIf(entry -> !entry.isLive(now));
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
    List<QueueEntry> inFront(@Nullable QueueEntry own, LeaseKind kind) {
        return before(own).filter(entry -> entry.kind().conflictsWith(kind)).toList();
    }

    boolean isFirst(QueueEntry entry) {
        return before(entry).noneMatch(front -> front.kind().conflictsWith(entry.kind()));
    }

    boolean isFirstOrBehindFirstReaders(QueueEntry entry) {
        return before(entry).noneMatch(front -> front.kind().blocksReaders());
    }

    private Stream<QueueEntry> before(@Nullable QueueEntry own) {
        return entries.stream().takeWhile(entry -> entry != own);
    }
}
