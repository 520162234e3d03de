package io.syncguard.verification.model;

import java.util.List;

/**
 * A rule of the contract that the model can do without, the property that breaks then, and the smallest configuration
 * in which that shows.
 */
record Removal(String rule, String property, List<String> configuration) {

    static final List<Removal> ALL = List.of(
            // The store's clock is a tick ahead, and grants before the holder's deadline.
            of("WITHOUT_TOLERANCE", "one_holder", "TTL=1", "ALL_TRY"),
            // A late reply gives the holder too long a deadline.
            of("DEADLINE_FROM_REPLY", "one_holder", "TTL=1", "ALL_TRY"),
            // The same with a late hand-over message.
            of("HAND_OVER_DEADLINE_FROM_MESSAGE", "one_holder", "TTL=1", "ALL_WAIT", "APART"),
            // The same with a hand-over in the reply of a release.
            of("HAND_OVER_DEADLINE_FROM_REPLY", "one_holder", "TTL=1", "ALL_WAIT", "TOGETHER"),
            // A release reads the clock, waits for the row, and hands over a lease that counts from the old time.
            of("CLOCK_BEFORE_LOCK", "one_holder", "ALL_WAIT", "APART"),
            // The cleanup deletes a lease that was extended after its look.
            of("SWEEP_WITHOUT_SECOND_LOOK", "one_holder", "TTL=1", "ALL_TRY"),
            // Two callers see a lapsed lease, lock the row one after the other, and grant.
            of("NO_LOOK_UNDER_ROW_LOCK", "one_lease", "TTL=1", "ALL_TRY"),
            // Two callers look in one transaction and write in the next.
            of("CHECK_WITHOUT_ROW_LOCK", "one_lease", "TTL=1", "ALL_TRY"),
            // Two callers see a free key; neither checks that the fence is unchanged.
            of("FREE_KEY_WITHOUT_PROOF", "one_lease", "TTL=1", "ALL_TRY"),
            // A stalled extension revives a lapsed lease that a grant passed over.
            of("LAPSED_IS_FILTERED", "one_lease", "TTL=1", "ALL_TRY"),
            // The counter of a held key is forgotten, and its absence proves the key free.
            of("FORGET_BESIDE_LEASES", "one_lease", "TTL=1", "ALL_TRY", "CLOCK_FENCES"),
            // Two requests for one key in a batch both see it free.
            of("BATCH_OF_ONE_LOOK", "one_lease", "TTL=1", "ALL_WAIT", "TOGETHER"),
            // A stalled extension revives a lapsed permit that a grant did not count.
            of("LAPSED_IS_NOT_COUNTED", "within_permits", "TTL=1", "ALL_TRY", "PERMITS"),
            // A batch does not count the grant that it has made itself.
            of("BATCH_FORGETS_GRANT", "within_permits", "TTL=1", "ALL_WAIT", "WITHOUT_FAULTS", "TOGETHER", "PERMITS"),
            // A caller gives up, and releases another's key.
            of("RELEASE_WITHOUT_LOCK_ID", "no_foreign_release", "TTL=1", "ALL_TRY"),
            // A transaction checks its lease and pauses. Another takes the key and commits first.
            of("NO_PIN", "no_stale_commit", "TTL=1", "ALL_TRY", "COMMITS"),
            // The same with a pin that a takeover does not respect.
            of("PIN_NOT_KEY_STRENGTH", "no_stale_commit", "TTL=1", "ALL_TRY", "COMMITS"),
            // A transaction pins its lapsed row, which nobody took, and commits.
            of("NO_JUDGEMENT", "lost_is_refused", "TTL=1", "ALL_TRY", "COMMITS"),
            // A release deletes the counter; the next fence is 1.
            of("FENCE_DELETED_WITH_ROW", "fences_grow", "TTL=1", "ALL_TRY"),
            // An idle counter of counted fences is forgotten.
            of("FORGET_COUNTED", "fences_grow", "TTL=1", "ALL_TRY"),
            // A counter ahead of the clock is forgotten.
            of("FORGET_EARLY", "fences_grow", "TTL=1", "ALL_TRY", "CLOCK_FENCES"),
            // Two grants in one tick have the same fence.
            of("CLOCK_FENCE_WITHOUT_LAST", "fences_grow", "TTL=1", "ALL_TRY", "CLOCK_FENCES"),
            // A request in doubt is released before it arrives, then granted.
            of("RELEASED_ONCE", "no_leak", "TTL=1", "ALL_TRY"),
            // A lease that a hand-over made is released, then a request in doubt is granted.
            of("RELEASED_ENDS_DOUBT", "no_leak", "TTL=1", "ALL_WAIT"),
            // A batch fails at its second request; the first stays granted.
            of("BATCH_IN_PARTS", "no_leak", "TTL=1", "ALL_TRY", "KEYS=2"),
            // A batch's reply is lost, and only one caller releases.
            of("BATCH_IN_DOUBT_FOR_ONE", "no_leak", "TTL=1", "ALL_TRY", "KEYS=2"),
            // The reply of a release is lost; a request that went along counts as not sent.
            of("ALONG_NOT_IN_DOUBT", "no_leak", "TTL=1", "ALL_WAIT", "TOGETHER"),
            // A waiter gives up after a hand-over made a lease of its entry.
            of("LEAVE_DELETES_ENTRY_ONLY", "no_leak", "TTL=1", "ALL_WAIT"),
            // A waiter looks before its hand-over message arrives, and queues behind its own lease.
            of("NO_OWN_GRANT_LOOKUP", "lease_or_entry", "TTL=1", "ALL_WAIT"),
            // A newcomer is granted a lapsed key before the waiter looks.
            of("NEWCOMER_PASSES_QUEUE", "in_order", "TTL=1", "APART"),
            // A request for one of many permits passes a waiter for one of few.
            of("LARGER_NUMBER_PASSES", "in_order", "TTL=1", "ALL_WAIT", "WITHOUT_FAULTS", "APART", "PERMITS=2"),
            // The key is released between refusal and queueing.
            of("QUEUE_WITHOUT_ROW_LOCK", "not_forgotten", "TTL=1", "ALL_WAIT"),
            // The first waiter was woken and leaves; nobody tells the second.
            of("LEAVE_WITHOUT_WAKE_UP", "not_forgotten", "TTL=1", "ALL_WAIT"),
            // Readers wait for a writer, which releases silently.
            of("RELEASE_WITHOUT_WAKE_UP", "not_forgotten", "TTL=1", "ALL_WAIT", "SHARED"),
            // The cleanup deletes the lease that a waiter waits for.
            of("SWEEP_WITHOUT_WAKE_UP", "not_forgotten", "TTL=1", "ALL_WAIT"),
            // A reply with a hand-over is lost, and the waiter does not look.
            of("LOST_REPLY_UNNOTICED", "not_forgotten", "TTL=1", "ALL_WAIT", "TOGETHER"),
            // The waiters look while the release is under way, and its reply is lost.
            of("LOST_REPLY_LOOKED_ONCE", "not_forgotten", "TTL=1", "ALL_WAIT", "TOGETHER"),
            // A request that was taken along queues after the release.
            of("ALONG_AFTER_RELEASE", "not_forgotten", "TTL=1", "ALL_WAIT", "TOGETHER"),
            // The first of two waiters looks after a lapse and is granted; nobody tells the second.
            of(
                    "GRANT_WAKES_NOBODY",
                    "not_forgotten",
                    "N=3",
                    "TTL=1",
                    "ALL_WAIT",
                    "WITHOUT_FAULTS",
                    "APART",
                    "PERMITS=2"),
            // The first of two waiters is granted a short lease, which lapses before the second looks.
            of(
                    "GRANT_TELLS_NOBODY",
                    "not_forgotten",
                    "N=3",
                    "TTL=1",
                    "POLL=3",
                    "WAITER_TTL=4",
                    "ALL_WAIT",
                    "WITHOUT_FAULTS",
                    "APART"),
            // A wake-up is lost, and the waiter waits for ever.
            of("NO_SAFETY_POLL", "served", "LIVENESS", "WAITER_TTL=2", "ALL_WAIT", "WITHOUT_FAULTS"));

    private static Removal of(String rule, String property, String... configuration) {
        return new Removal(rule, property, List.of(configuration));
    }

    @Override
    public String toString() {
        return rule;
    }
}
