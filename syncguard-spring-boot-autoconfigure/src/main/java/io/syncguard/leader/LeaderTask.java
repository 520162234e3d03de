package io.syncguard.leader;

/**
 * Work that the leader does for as long as it leads.
 */
@FunctionalInterface
public interface LeaderTask {

    /**
     * Runs on a thread of its own, under the lock of the term, and is interrupted when the term ends. May return
     * earlier; it is called again in the next term of this process, and never beside itself.
     *
     * @param term ask it before each step whether it still leads, and send its fence along with each write
     */
    void run(LeaderTerm term) throws Exception;
}
