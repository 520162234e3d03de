package io.syncguard.actuate;

import io.syncguard.core.ProcessStatus;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * The answer of the endpoint.
 *
 * @param instance the process that answers, by a number of its own: another one may have the same owner label
 * @param keysShown whether the reader sees keys, and not their hashes
 * @param managers by the names of their beans, or of the stores of those that the library declares
 * @param elections in which this process takes part, by name
 * @param names the counts of this process, by the names of the locks
 * @param events the events of this process, in their order
 * @param advice the problems for an operator to look at
 */
public record LocksDescriptor(
        String instance,
        boolean keysShown,
        Map<String, Manager> managers,
        Map<String, Election> elections,
        Map<String, NameDescriptor> names,
        List<EventDescriptor> events,
        List<AdviceDescriptor> advice)
        implements OperationResponseBody {

    /**
     * A lock manager.
     *
     * @param process what this process knows of the store, without asking it
     * @param own what this process holds and waits for, without asking the store: at most
     *     {@value OwnLockDescriptor#MAX} of each
     * @param locks the locks of all processes, in the order of their keys, or of their hashes
     * @param next the value of {@code after} for the next page; {@code null} if there is none
     * @param complete whether the list has all locks that it should
     * @param age how long ago the store was read; {@code null} if it was not
     * @param problem why the list is old or not complete; {@code null} if it is neither
     * @param summary of all locks of the store
     */
    public record Manager(
            ProcessStatus process,
            List<OwnLockDescriptor> own,
            List<LockDescriptor> locks,
            @Nullable String next,
            boolean complete,
            @Nullable Duration age,
            @Nullable String problem,
            SummaryDescriptor summary) {}

    /**
     * An election.
     *
     * @param joined whether this process is a candidate
     * @param leads whether this process leads
     * @param known whether the store has answered who leads
     * @param lock the lock of the leader, for which the other members wait; {@code null} if it has none
     */
    public record Election(
            boolean joined,
            boolean leads,
            boolean known,
            @Nullable LockDescriptor lock) {}
}
