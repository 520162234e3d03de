package io.syncguard.benchmarks;

import java.util.concurrent.Callable;

/**
 * The result of one measurement of pairs.
 *
 * @param clientMicros processor time of this process per pair; NaN where the system does not tell
 * @param serverMicros processor time of the server per pair; NaN where the system does not tell
 */
record PairSample(Pace pace, double clientMicros, double serverMicros) {

    /** Runs pairs, and reads the processor times before and after. */
    static PairSample of(Server server, Callable<Pace> pairs) throws Exception {
        long process = server.processId();
        double serverBefore = ProcessorTime.ofTree(process);
        double clientBefore = ProcessorTime.ofThisProcess();
        Pace pace = pairs.call();
        double clientTime = ProcessorTime.ofThisProcess() - clientBefore;
        double serverTime = ProcessorTime.ofTree(process) - serverBefore;
        return new PairSample(pace, clientTime / pace.count(), serverTime / pace.count());
    }
}
