package io.syncguard.check;

import io.syncguard.core.ContractStore;
import io.syncguard.verification.stress.StressDatabase;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Tables or keys of a check on the server. {@link #close} removes them. */
interface Area extends AutoCloseable {

    /** The store for the contract, whose leases a test can end. */
    ContractStore contractStore();

    /** The data of applications beside their locks; null on a store without tables. */
    @Nullable
    StressDatabase data();

    /**
     * The settings of an application whose locks are in this area.
     *
     * @param address the host and the port to connect to; null for the usual ones
     */
    Map<String, String> properties(@Nullable String address);

    /** The address of the server for a proxy in front of it; null if none can be there. */
    @Nullable
    String address();

    /** Ends a session of a worker, as an administrator does. Returns false if there is none, or no right. */
    boolean endSession();

    /** Writes this number of times, and returns how many writes the server has counted. */
    long writesCounted(int writes);

    /** What {@link #close} removes, in words. */
    String leftovers();

    @Override
    void close();
}
