package io.syncguard.verification.matrix;

import java.nio.file.Path;
import java.util.List;

/**
 * The result of a campaign.
 *
 * @param site the servers
 * @param notPromised why some rules need not hold there; empty if all do
 * @param operations requests to the store of the locks
 * @param calls of clients
 * @param unguardedLate effects without a guard that were committed after one with a larger fence
 * @param directory with the histories
 */
record CampaignReport(
        String name,
        String site,
        String notPromised,
        List<FaultReport> faults,
        long operations,
        long calls,
        long unguardedLate,
        List<String> violations,
        Path directory) {}
