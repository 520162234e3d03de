package io.syncguard.leader;

/**
 * Work of the leader, from the beginning of its term to its end.
 */
@FunctionalInterface
public interface LeaderTask {

    /**
     * Runs on a separate thread, under the lock of the term, and is interrupted when the term ends. It may return
     * earlier, and is called again in the next term of this process. Two calls never overlap.
     *
     * @param term check before each step that it still leads, and send its fence with each write
     */
    void run(LeaderTerm term) throws Exception;
}
