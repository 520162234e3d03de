package io.syncguard.rules;

import io.syncguard.LockMode;
import io.syncguard.spi.AcquireRequest;
import java.util.List;

/**
 * What kind of lease a request asks for: an exclusive one, a shared one, or one of so many permits.
 *
 * @param permits how many shared leases the key may have with this one; 0 for no limit, as in every exclusive request
 */
public record LeaseKind(LockMode mode, int permits) {

    static LeaseKind of(AcquireRequest request) {
        return new LeaseKind(request.options().mode(), request.options().permits());
    }

    boolean isExclusive() {
        return mode == LockMode.EXCLUSIVE;
    }

    /** Whether no reader passes a waiter of this kind: it is exclusive, or has permits. */
    boolean blocksReaders() {
        return isExclusive() || permits > 0;
    }

    /** Whether no other lease of this kind fits beside so many shared ones. */
    boolean isFull(int shared) {
        return permits > 0 && shared >= permits;
    }

    /**
     * The leases whose end matters: with permits, the one that leaves room for one more.
     *
     * @param held the conflicting leases, in the order of their ends
     */
    List<StoredLease> deciding(List<StoredLease> held) {
        return isFull(held.size()) ? List.of(held.get(held.size() - permits)) : held;
    }

    /** Whether one waiter has to wait for the other: always, unless both are readers without permits. */
    boolean conflictsWith(LeaseKind other) {
        return blocksReaders() || other.blocksReaders();
    }
}
