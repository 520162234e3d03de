package io.syncguard.stress;

import io.syncguard.stress.HistoryEvent.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The events of one key put together by lock id. */
final class KeyHistory {

    private static final Comparator<LeaseHistory> BY_FENCE = Comparator.comparingLong(LeaseHistory::fence)
            .thenComparing(lease -> lease.acquire().start());

    private final ProcessTimes processes;
    private final Map<String, LeaseHistory> leases = new LinkedHashMap<>();
    private final List<PlaceHistory> requests = new ArrayList<>();
    private final List<HistoryEvent> nobodys = new ArrayList<>();
    private final List<LeaseHistory> grants;

    KeyHistory(List<HistoryEvent> events, ProcessTimes processes) {
        this.processes = processes;
        events.stream()
                .filter(event -> !event.lock().isEmpty())
                .collect(Collectors.groupingBy(HistoryEvent::lock, LinkedHashMap::new, Collectors.toList()))
                .forEach(this::add);
        addLosses(events);
        this.grants = leases.values().stream()
                .filter(LeaseHistory::isGranted)
                .sorted(BY_FENCE)
                .toList();
    }

    private void add(String lock, List<HistoryEvent> ofLock) {
        if (ofLock.stream().anyMatch(event -> event.is(Kind.ACQUIRE))) {
            requests.add(new PlaceHistory(lock, ofLock, processes));
        }
        ofLock.stream()
                .filter(event -> event.is(Kind.ACQUIRE) && event.mayHaveHappened())
                .findFirst()
                .ifPresentOrElse(
                        acquire -> leases.put(lock, new LeaseHistory(acquire, ofLock, processes)),
                        () -> nobodys.addAll(ofLock));
    }

    /** Who is told of a loss is not told the lock id. */
    private void addLosses(List<HistoryEvent> events) {
        Map<Long, LeaseHistory> byFence = new HashMap<>();
        leases.values().forEach(lease -> byFence.put(lease.fence(), lease));
        for (HistoryEvent event : events) {
            if (event.is(Kind.LOST) && byFence.containsKey(event.lease().fence())) {
                byFence.get(event.lease().fence()).add(event);
            }
        }
    }

    /** By lock hash: granted, or of unknown outcome. */
    Map<String, LeaseHistory> leases() {
        return leases;
    }

    /** In the order of their fences. */
    List<LeaseHistory> grants() {
        return grants;
    }

    /** All that was asked for, granted or not. */
    List<PlaceHistory> requests() {
        return requests;
    }

    /** What happened under lock ids that nobody can have been granted. */
    List<HistoryEvent> nobodys() {
        return nobodys;
    }
}
