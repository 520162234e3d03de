package io.syncguard.verification.history;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The events of one key, grouped by lock id and, if {@link HandOvers} found several grants of one lock id, by grant.
 */
final class KeyHistory {

    private static final Comparator<LeaseHistory> BY_FENCE = Comparator.comparingLong(LeaseHistory::fence)
            .thenComparing(lease -> lease.acquire().start());

    private final ProcessTimes processes;
    private final Map<String, LeaseHistory> leases = new LinkedHashMap<>();
    private final Map<HistoryEvent, LeaseHistory> acquiredAgain = new LinkedHashMap<>();
    private final List<QueueEntryHistory> requests = new ArrayList<>();
    private final List<HistoryEvent> ungranted = new ArrayList<>();
    private final List<LeaseHistory> grants;

    KeyHistory(List<HistoryEvent> events, ProcessTimes processes) {
        this.processes = processes;
        events.stream()
                .filter(event -> !event.lock().isEmpty())
                .collect(Collectors.groupingBy(HistoryEvent::lock, LinkedHashMap::new, Collectors.toList()))
                .forEach(this::addAll);
        addLosses(events);
        this.grants = leases.values().stream()
                .filter(LeaseHistory::isGranted)
                .sorted(BY_FENCE)
                .toList();
    }

    private void addAll(String lock, List<HistoryEvent> ofLock) {
        LeaseHistory before = null;
        List<HandOvers.Part> parts = HandOvers.parts(ofLock, processes);
        for (HandOvers.Part part : parts) {
            boolean isLast = part == parts.get(parts.size() - 1);
            if (before != null) {
                acquiredAgain.put(part.events().get(0), before);
            }
            before = add(isLast ? lock : lock + "/" + leases.size(), part);
            if (part.events().stream().anyMatch(event -> event.is(Kind.ACQUIRE))) {
                requests.add(new QueueEntryHistory(lock, part, processes));
            }
        }
        addLateGrants(lock, ofLock);
    }

    /** A request without an answer may run after the lease of a later request of the same acquisition is over. */
    private void addLateGrants(String lock, List<HistoryEvent> ofLock) {
        List<HistoryEvent> acquires =
                ofLock.stream().filter(event -> event.is(Kind.ACQUIRE)).toList();
        acquires.stream()
                .filter(late -> late.outcome() == Outcome.UNKNOWN)
                .filter(late -> acquires.stream().anyMatch(next -> next.start() > late.start()))
                .forEach(late -> leases.put(lock + "/late/" + leases.size(), lateGrant(late, ofLock)));
    }

    private LeaseHistory lateGrant(HistoryEvent late, List<HistoryEvent> ofLock) {
        // A release that took effect may have ended the other lease. One without effect was at least sent.
        Stream<HistoryEvent> releases = ofLock.stream()
                .filter(event -> event.is(Kind.RELEASE))
                .map(event -> event.mayHaveHappened() ? event.answered(event.end(), Outcome.UNKNOWN) : event);
        return new LeaseHistory(
                late,
                late.start(),
                Stream.concat(Stream.of(late), releases).collect(Collectors.toCollection(ArrayList::new)),
                processes);
    }

    private LeaseHistory add(String lock, HandOvers.Part part) {
        List<HistoryEvent> ofGrant = part.events();
        LeaseHistory lease = ofGrant.stream()
                .filter(event -> (event.is(Kind.ACQUIRE) || event.is(Kind.HANDED_OVER)) && event.mayHaveHappened())
                .min(Comparator.comparing(HistoryEvent::outcome))
                .map(acquire -> new LeaseHistory(acquire, part.arrivedAt(), ofGrant, processes))
                .orElse(null);
        if (lease == null) {
            ungranted.addAll(ofGrant);
        } else {
            leases.put(lock, lease);
        }
        return lease;
    }

    /** Assigns losses to leases: an event of a loss has no lock id. */
    private void addLosses(List<HistoryEvent> events) {
        Map<Long, LeaseHistory> byFence = new HashMap<>();
        leases.values().forEach(lease -> byFence.put(lease.fence(), lease));
        for (HistoryEvent event : events) {
            if (event.is(Kind.LOST) && byFence.containsKey(event.lease().fence())) {
                byFence.get(event.lease().fence()).add(event);
            }
        }
    }

    /** The leases by lock hash, granted or of unknown outcome. The holder uses the last grant of a lock id. */
    Map<String, LeaseHistory> leases() {
        return leases;
    }

    /** The grants in the order of their fences. */
    List<LeaseHistory> grants() {
        return grants;
    }

    /** All acquisitions, granted or not. */
    List<QueueEntryHistory> requests() {
        return requests;
    }

    /** The acquire requests for a new grant under a lock id that had a grant before, with that grant. */
    Map<HistoryEvent, LeaseHistory> acquiredAgain() {
        return acquiredAgain;
    }

    /** The events of lock ids without a possible grant. */
    List<HistoryEvent> ungranted() {
        return ungranted;
    }
}
