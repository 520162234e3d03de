package io.syncguard.verification.model;

import java.util.List;

/**
 * A rule of the contract that the model can do without, the property that breaks then, and the smallest configuration
 * in which that shows.
 */
record Removal(String rule, String property, List<String> configuration) {

    static final List<Removal> ALL = List.of(
            of("WITHOUT_TOLERANCE", "one_holder", "TTL=1", "ALL_TRY"),
            of("DEADLINE_FROM_REPLY", "one_holder", "TTL=1", "ALL_TRY"),
            of("HAND_OVER_DEADLINE_FROM_MESSAGE", "one_holder", "TTL=1", "ALL_WAIT", "APART"),
            of("HAND_OVER_DEADLINE_FROM_REPLY", "one_holder", "TTL=1", "ALL_WAIT", "TOGETHER"),
            of("CLOCK_BEFORE_LOCK", "one_holder", "ALL_WAIT", "APART"),
            of("SWEEP_WITHOUT_SECOND_LOOK", "one_holder", "TTL=1", "ALL_TRY"),
            of("NO_LOOK_UNDER_ROW_LOCK", "one_lease", "TTL=1", "ALL_TRY"),
            of("CHECK_WITHOUT_ROW_LOCK", "one_lease", "TTL=1", "ALL_TRY"),
            of("FREE_KEY_WITHOUT_PROOF", "one_lease", "TTL=1", "ALL_TRY"),
            of("LAPSED_IS_FILTERED", "one_lease", "TTL=1", "ALL_TRY"),
            of("FORGET_BESIDE_LEASES", "one_lease", "TTL=1", "ALL_TRY", "CLOCK_FENCES"),
            of("BATCH_OF_ONE_LOOK", "one_lease", "TTL=1", "ALL_WAIT", "TOGETHER"),
            of("LAPSED_IS_NOT_COUNTED", "within_permits", "TTL=1", "ALL_TRY", "PERMITS"),
            of("BATCH_FORGETS_GRANT", "within_permits", "TTL=1", "ALL_WAIT", "WITHOUT_FAULTS", "TOGETHER", "PERMITS"),
            of("RELEASE_WITHOUT_LOCK_ID", "no_foreign_release", "TTL=1", "ALL_TRY"),
            of("NO_PIN", "no_stale_commit", "TTL=1", "ALL_TRY", "COMMITS"),
            of("PIN_NOT_KEY_STRENGTH", "no_stale_commit", "TTL=1", "ALL_TRY", "COMMITS"),
            of("NO_JUDGEMENT", "lost_is_refused", "TTL=1", "ALL_TRY", "COMMITS"),
            of("FENCE_DELETED_WITH_ROW", "fences_grow", "TTL=1", "ALL_TRY"),
            of("FORGET_COUNTED", "fences_grow", "TTL=1", "ALL_TRY"),
            of("FORGET_EARLY", "fences_grow", "TTL=1", "ALL_TRY", "CLOCK_FENCES"),
            of("CLOCK_FENCE_WITHOUT_LAST", "fences_grow", "TTL=1", "ALL_TRY", "CLOCK_FENCES"),
            of("RELEASED_ONCE", "no_leak", "TTL=1", "ALL_TRY"),
            of("RELEASED_ENDS_DOUBT", "no_leak", "TTL=1", "ALL_WAIT"),
            of("BATCH_IN_PARTS", "no_leak", "TTL=1", "ALL_TRY", "KEYS=2"),
            of("BATCH_IN_DOUBT_FOR_ONE", "no_leak", "TTL=1", "ALL_TRY", "KEYS=2"),
            of("ALONG_NOT_IN_DOUBT", "no_leak", "TTL=1", "ALL_WAIT", "TOGETHER"),
            of("LEAVE_DELETES_ENTRY_ONLY", "no_leak", "TTL=1", "ALL_WAIT"),
            of("NO_OWN_GRANT_LOOKUP", "lease_or_entry", "TTL=1", "ALL_WAIT"),
            of("NEWCOMER_PASSES_QUEUE", "in_order", "TTL=1", "APART"),
            of("LARGER_NUMBER_PASSES", "in_order", "TTL=1", "ALL_WAIT", "WITHOUT_FAULTS", "APART", "PERMITS=2"),
            of("QUEUE_WITHOUT_ROW_LOCK", "not_forgotten", "TTL=1", "ALL_WAIT"),
            of("LEAVE_WITHOUT_WAKE_UP", "not_forgotten", "TTL=1", "ALL_WAIT"),
            of("RELEASE_WITHOUT_WAKE_UP", "not_forgotten", "TTL=1", "ALL_WAIT", "SHARED"),
            of("SWEEP_WITHOUT_WAKE_UP", "not_forgotten", "TTL=1", "ALL_WAIT"),
            of("LOST_REPLY_UNNOTICED", "not_forgotten", "TTL=1", "ALL_WAIT", "TOGETHER"),
            of("LOST_REPLY_LOOKED_ONCE", "not_forgotten", "TTL=1", "ALL_WAIT", "TOGETHER"),
            of("ALONG_AFTER_RELEASE", "not_forgotten", "TTL=1", "ALL_WAIT", "TOGETHER"),
            of(
                    "GRANT_WAKES_NOBODY",
                    "not_forgotten",
                    "N=3",
                    "TTL=1",
                    "ALL_WAIT",
                    "WITHOUT_FAULTS",
                    "APART",
                    "PERMITS=2"),
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
            of("NO_SAFETY_POLL", "served", "LIVENESS", "WAITER_TTL=2", "ALL_WAIT", "WITHOUT_FAULTS"));

    private static Removal of(String rule, String property, String... configuration) {
        return new Removal(rule, property, List.of(configuration));
    }

    @Override
    public String toString() {
        return rule;
    }
}
