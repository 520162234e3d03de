package io.syncguard.verification.commits;

/**
 * The result of a run of guarded commits.
 *
 * @param rounds number of rounds of all processes
 * @param pauses number of pauses of a process, each longer than a lease and its tolerance
 * @param effects number of committed effects
 * @param refused number of rounds whose commit was refused
 * @param lostAfterCommit number of rounds that reported a loss after a successful commit
 * @param outOfOrder number of effects whose fence is not larger than that of the key's previous commit
 * @param contradicted number of rounds reported as committed that left no effect, or as refused that left one
 */
record CommitReport(
        int rounds, int pauses, long effects, int refused, int lostAfterCommit, long outOfOrder, long contradicted) {}
