package io.syncguard.verification.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.verification.matrix.Fleet.Load;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PostgresMatrixTests {

    @Test
    void holds() throws Exception {
        try (PostgresSite site = new PostgresSite(3)) {
            List<Fault> faults = new ArrayList<>();
            String only = System.getProperty("syncguard.matrix.only", "");
            Campaign campaign = new Campaign("postgres", site, faults, Load.USUAL, Set.of(), 1);
            faults.addAll(new ProcessFaults(campaign.fleet(), 1000).all());
            faults.addAll(new LinkFaults(site.links(), 1000).all());
            faults.addAll(new PostgresServerFaults(site).all());
            faults.removeIf(f -> !only.isEmpty() && !(" " + only + " ").contains(" " + f.row() + " "));
            CampaignReport report = campaign.run(Integer.getInteger("syncguard.matrix.rounds", 4));
            System.out.println(report.site() + " ops " + report.operations() + " calls " + report.calls() + " late "
                    + report.unguardedLate());
            report.faults().forEach(System.out::println);
            assertThat(report.violations()).isEmpty();
        }
    }
}
