package io.syncguard.verification.stress;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The changes of the rows of one key, as a run of the model in the format of {@code replay.pml}: which steps each
 * transaction has to be follows from the rows that it inserted, updated and deleted. The model then says whether these
 * steps were possible, and what the tables have to contain.
 */
final class ModelReplay {

    private static final int TOLERANCE = 1000;
    private static final int NOBODY = 250;
    private static final int GRANTED = 1;
    private static final int WAIT = 2;

    /** A lock id in the tables. */
    private static final class Row {
        final int slot;
        final boolean shared;
        long lease = -1;
        long entry = -1;
        long arrival;

        Row(int slot, boolean shared) {
            this.slot = slot;
            this.shared = shared;
        }
    }

    private final Map<String, Row> rows = new TreeMap<>();
    private final StringBuilder run = new StringBuilder();
    private final List<String> transactions = new ArrayList<>();
    private long now;
    private long fence;
    private int slots = 2;

    ModelReplay(List<RowChange> changes) {
        now = changes.get(0).nowMillis();
        int from = 0;
        for (int to = 1; to <= changes.size(); to++) {
            if (to == changes.size()
                    || changes.get(to).transaction() != changes.get(from).transaction()) {
                transaction(changes.subList(from, to));
                from = to;
            }
        }
        add(0);
    }

    /** The input of the model. */
    String run() {
        return run.toString();
    }

    /** How many lock ids it needs at a time. */
    int slots() {
        return slots;
    }

    int transactions() {
        return transactions.size();
    }

    /** The changes of a transaction, for people; they are counted from 1. */
    String transaction(int number) {
        return transactions.get(number - 1);
    }

    private void transaction(List<RowChange> changes) {
        List<RowChange> released = changes.stream()
                .filter(is('L', "DELETE"))
                .filter(change -> change.expiresAt() + TOLERANCE > change.nowMillis())
                .toList();
        long passed = Math.max(0, changes.get(0).nowMillis() - now);
        now += passed;
        transactions.add(changes.toString());
        add(1, passed);

        List<RowChange> inserted = changes.stream().filter(is('L', "INSERT")).toList();
        leave(changes, !released.isEmpty(), !inserted.isEmpty());
        List<RowChange> handedOver = released.isEmpty() ? List.of() : inserted;
        boolean lapsed = changes.stream().anyMatch(is('L', "DELETE")) && released.size() < deletedLeases(changes);
        if (!released.isEmpty()) {
            // Requests that the release took along.
            queue(changes);
        }
        for (RowChange change : released) {
            int to = handedOver.isEmpty() ? NOBODY : row(handedOver.get(0)).slot;
            long ttl = handedOver.isEmpty() ? 0 : leaseLeft(handedOver.get(0).expiresAt());
            add(4, row(change).slot, to, ttl, lapsed ? 1 : 0);
        }
        if (released.isEmpty() && !inserted.isEmpty() && inserted.get(0).shared()) {
            // The portable store also deletes lapsed readers for a reader, with which they do not conflict.
            changes.stream()
                    .filter(is('L', "DELETE"))
                    .filter(RowChange::shared)
                    .forEach(change -> add(8, row(change).slot));
        }
        if (handedOver.isEmpty()) {
            inserted.stream()
                    .sorted(Comparator.comparingLong(RowChange::fence))
                    .forEach(change -> add(3, begin(change).slot, leaseLeft(change.expiresAt()), 0, GRANTED));
        }
        changes.stream()
                .filter(is('L', "UPDATE"))
                .forEach(change -> add(6, row(change).slot, leaseLeft(change.expiresAt())));
        if (released.isEmpty() && inserted.isEmpty()) {
            // A cleanup, or a request that is refused nevertheless, because of an extension under way.
            changes.stream().filter(is('L', "DELETE")).forEach(change -> add(8, row(change).slot));
        }
        changes.stream()
                .filter(is('E', "UPDATE"))
                .forEach(change -> add(5, row(change).slot, entryLeft(change.expiresAt())));
        if (released.isEmpty()) {
            queue(changes);
        }
        apply(changes);
        expect();
    }

    private void queue(List<RowChange> changes) {
        for (RowChange change : changes.stream().filter(is('E', "INSERT")).toList()) {
            // A lapsed lease that is still there was locked by a transaction of the application.
            List<Row> pinned = rows.values().stream()
                    .filter(row -> row.lease >= 0 && row.lease + TOLERANCE <= now)
                    .filter(row -> changes.stream()
                            .noneMatch(each -> is('L', "DELETE").test(each) && rows.get(each.lockId()) == row))
                    .toList();
            pinned.forEach(row -> add(10, row.slot, 1));
            add(3, begin(change).slot, 0, entryLeft(change.expiresAt()), WAIT);
            pinned.forEach(row -> add(10, row.slot, 0));
        }
    }

    /** Waiters that leave before the releases of the same transaction, as in {@code release_all}; or a cleanup. */
    private void leave(List<RowChange> changes, boolean releases, boolean grants) {
        List<RowChange> left = changes.stream()
                .filter(is('E', "DELETE"))
                .filter(change -> changes.stream()
                        .noneMatch(other -> other.table() != 'C'
                                && !other.operation().equals("DELETE")
                                && other.lockId().equals(change.lockId())))
                .toList();
        left.stream().filter(change -> change.expiresAt() > now).forEach(change -> add(7, row(change).slot));
        // The portable store also deletes lapsed entries with a grant that does not need it.
        boolean cleans = left.stream().anyMatch(change -> !grants || change.expiresAt() <= now);
        if (cleans && !releases) {
            add(9);
        }
    }

    private static long deletedLeases(List<RowChange> changes) {
        return changes.stream().filter(is('L', "DELETE")).count();
    }

    private static Predicate<RowChange> is(char table, String operation) {
        return change -> change.table() == table && change.operation().equals(operation);
    }

    private Row row(RowChange change) {
        return rows.computeIfAbsent(change.lockId(), id -> new Row(freeSlot(), change.shared()));
    }

    /** A lock id that may be new to the model. */
    private Row begin(RowChange change) {
        Row row = row(change);
        add(2, row.slot, row.shared ? 1 : 0);
        return row;
    }

    private int freeSlot() {
        int slot = 0;
        while (isUsed(slot)) {
            slot++;
        }
        slots = Math.max(slots, slot + 1);
        return slot;
    }

    private boolean isUsed(int slot) {
        return rows.values().stream().anyMatch(row -> row.slot == slot);
    }

    private void apply(List<RowChange> changes) {
        for (RowChange change : changes) {
            boolean deleted = change.operation().equals("DELETE");
            if (change.table() == 'C') {
                fence = deleted ? 0 : change.fence();
            } else if (change.table() == 'L') {
                row(change).lease = deleted ? -1 : change.expiresAt();
            } else {
                row(change).entry = deleted ? -1 : change.expiresAt();
                row(change).arrival = change.arrival();
            }
        }
    }

    /** All rows of the key, also those that the transaction has not changed. */
    private void expect() {
        List<Row> queue = rows.values().stream()
                .filter(row -> row.entry >= 0)
                .sorted(Comparator.comparingLong(row -> row.arrival))
                .toList();
        for (Row row : rows.values()) {
            add(
                    11,
                    row.slot,
                    row.lease < 0 ? 0 : 1,
                    row.lease < 0 ? 0 : leaseLeft(row.lease),
                    row.entry < 0 ? 0 : 1,
                    row.entry < 0 ? 0 : entryLeft(row.entry),
                    1 + queue.indexOf(row));
        }
        rows.values().removeIf(row -> row.lease < 0 && row.entry < 0);
        add(12, fence);
    }

    private long leaseLeft(long expiresAt) {
        return Math.max(0, expiresAt + TOLERANCE - now);
    }

    private long entryLeft(long expiresAt) {
        return Math.max(0, expiresAt - now);
    }

    private void add(long... numbers) {
        for (long number : numbers) {
            run.append(number).append(' ');
        }
    }
}
