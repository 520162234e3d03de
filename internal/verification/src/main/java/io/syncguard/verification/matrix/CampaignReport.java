package io.syncguard.verification.matrix;

import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The result of a campaign, or of several on one site.
 *
 * @param site the description of the servers
 * @param notPromised why some rules need not hold there; empty if all hold
 * @param first the first day
 * @param last the last day
 * @param operations number of requests to the store of the locks
 * @param calls number of calls of clients
 * @param unguardedLate number of effects without a guard that were committed after one with a larger fence
 * @param directory the directory with the histories of the last campaign
 */
record CampaignReport(
        String name,
        String site,
        String notPromised,
        LocalDate first,
        LocalDate last,
        List<FaultReport> faults,
        long operations,
        long calls,
        long unguardedLate,
        List<String> violations,
        Path directory) {

    /** The sum of both reports. */
    CampaignReport plus(CampaignReport later) {
        Map<String, FaultReport> sum = new LinkedHashMap<>();
        faults.forEach(fault -> sum.put(fault.name(), fault));
        later.faults.forEach(fault -> sum.merge(fault.name(), fault, FaultReport::plus));
        List<String> all = new ArrayList<>(violations);
        all.addAll(later.violations);
        return new CampaignReport(
                name,
                later.site,
                later.notPromised,
                first,
                later.last,
                List.copyOf(sum.values()),
                operations + later.operations,
                calls + later.calls,
                unguardedLate + later.unguardedLate,
                all,
                later.directory);
    }
}
