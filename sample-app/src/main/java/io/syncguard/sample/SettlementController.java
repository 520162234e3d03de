package io.syncguard.sample;

import io.syncguard.leader.LeaderElection;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Shows which instance settles, and what was settled last.
 */
@RestController
final class SettlementController {

    private final LeaderElection election;
    private final Ledger ledger;

    SettlementController(LeaderElection election, Ledger ledger) {
        this.election = election;
        this.ledger = ledger;
    }

    @GetMapping("/leader")
    Leadership leader() {
        String name = SettlementService.ELECTION;
        return Leadership.of(
                name, election.isLeader(name), election.leader(name).orElse(null));
    }

    @GetMapping("/settlement")
    Settlement settlement() {
        return ledger.read();
    }
}
