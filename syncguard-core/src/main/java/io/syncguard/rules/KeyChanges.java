package io.syncguard.rules;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one key that have changed. After several rules in one transaction, the first state and the last one give
 * the changes of all.
 *
 * @param leases by their lock ids; the release of a lease that keeps the key for a while deletes it and inserts another
 * @param queue by their lock ids; each inserted entry is behind all others, in the order of the list. A waiter whose
 *     entry has lapsed gets another one with the same lock id: delete before inserting
 * @param lastFence the fence counter; {@code null} if it is unchanged
 */
public record KeyChanges(
        Rows<StoredLease> leases,
        Rows<QueueEntry> queue,
        @Nullable Long lastFence) {

    /** Rows of one table. A row that is updated stands here as it is now, one that is deleted as it was. */
    public record Rows<R>(List<R> inserted, List<R> updated, List<R> deleted) {

        private static <R> Rows<R> between(List<R> before, List<R> after, Function<R, Object> identity) {
            Map<Object, R> old = new LinkedHashMap<>();
            before.forEach(row -> old.put(identity.apply(row), row));
            List<R> inserted = new ArrayList<>();
            List<R> updated = new ArrayList<>();
            for (R row : after) {
                R earlier = old.remove(identity.apply(row));
                if (earlier == null) {
                    inserted.add(row);
                } else if (!earlier.equals(row)) {
                    updated.add(row);
                }
            }
            return new Rows<>(inserted, updated, List.copyOf(old.values()));
        }

        /** Compares rows in an order. A row that stands behind others now, and stood before them, is another one. */
        private static <R> Rows<R> inOrder(List<R> before, List<R> after, Function<R, Object> identity) {
            List<Object> places = before.stream().map(identity).toList();
            int last = -1;
            List<R> moved = new ArrayList<>();
            for (R row : after) {
                int place = places.indexOf(identity.apply(row));
                if (place >= 0 && place < last) {
                    moved.add(row);
                }
                last = Math.max(last, place);
            }
            return between(before, after, row -> moved.contains(row) ? row : identity.apply(row));
        }

        public boolean areNone() {
            return inserted.isEmpty() && updated.isEmpty() && deleted.isEmpty();
        }
    }

    /** The changes from one state of a key to a later one. */
    public static KeyChanges between(KeyState before, KeyState after) {
        return new KeyChanges(
                Rows.between(before.leases(), after.leases(), StoredLease::lockId),
                Rows.inOrder(before.queue(), after.queue(), entry -> List.of(entry.lockId(), entry.arrivedAt())),
                before.lastFence() == after.lastFence() ? null : (Long) after.lastFence());
    }

    public boolean areNone() {
        return leases.areNone() && queue.areNone() && lastFence == null;
    }
}
