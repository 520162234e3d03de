package io.syncguard.verification.history;

import static io.syncguard.verification.history.HistoryEvent.NEVER;

import io.syncguard.verification.history.HistoryEvent.Outcome;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

/** The possible ends of one lease by the server's clock, in milliseconds. */
final class ServerExpiry {

    private final HistoryEvent acquire;
    private final List<HistoryEvent> settings;

    /** @param settings the events that may have set the end of the lease */
    ServerExpiry(HistoryEvent acquire, List<HistoryEvent> settings) {
        this.acquire = acquire;
        this.settings = settings;
    }

    /** The earliest end that the lease can have had on the server at the time of the other grant. */
    long earliestEnd(HistoryEvent grant) {
        Predicate<HistoryEvent> before = event -> event.start() <= grant.end();
        long last = settings.stream()
                .filter(before.and(event -> event.outcome() == Outcome.OK))
                .mapToLong(ServerExpiry::timeOf)
                .max()
                .orElse(acquire.lease().acquiredAt());
        long confirmed = settings.stream()
                .filter(before.and(event -> event.outcome() == Outcome.OK && timeOf(event) == last))
                .mapToLong(event -> event.lease().expiresAt())
                .min()
                .orElse(acquire.lease().expiresAt());
        return settings.stream()
                .filter(before.and(event -> event.outcome() == Outcome.UNKNOWN))
                .mapToLong(event -> acquire.lease().acquiredAt() + event.lease().ttl())
                .reduce(confirmed, Math::min);
    }

    /** The end of the lease that the extension found on the server; {@link HistoryEvent#NEVER} if uncertain. */
    long endBefore(HistoryEvent extension) {
        boolean certain = settings.stream()
                .noneMatch(event -> event.outcome() == Outcome.UNKNOWN && event.start() <= extension.end());
        return !certain
                ? NEVER
                : settings.stream()
                        .filter(event -> event != extension && timeOf(event) <= timeOf(extension))
                        .max(Comparator.comparingLong(ServerExpiry::timeOf)
                                .thenComparingLong(event -> event.lease().expiresAt()))
                        .map(event -> event.lease().expiresAt())
                        .orElse(NEVER);
    }

    /** The server's time of the event, from its answer: now + ttl. */
    static long timeOf(HistoryEvent setting) {
        return setting.lease().expiresAt() - setting.lease().ttl();
    }
}
