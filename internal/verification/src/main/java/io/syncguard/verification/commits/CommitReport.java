package io.syncguard.verification.commits;

/**
 * What a run of guarded commits found.
 *
 * @param rounds of all processes
 * @param pauses of a process, each longer than a lease and its tolerance
 * @param effects that were committed
 * @param refused rounds whose commit was refused
 * @param lostAfterCommit rounds whose commit succeeded, and whose loss after it was reported
 * @param outOfOrder effects whose fence is not larger than that of the commit before, of the same key
 * @param contradicted rounds that were reported as committed without an effect, or as refused with one
 */
record CommitReport(
        int rounds, int pauses, long effects, int refused, int lostAfterCommit, long outOfOrder, long contradicted) {}
