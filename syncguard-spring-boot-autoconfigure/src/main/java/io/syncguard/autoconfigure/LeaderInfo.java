package io.syncguard.autoconfigure;

import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderMember;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;

/**
 * Shows in {@code /actuator/info} which elections this process leads, without asking a server.
 */
final class LeaderInfo implements InfoContributor {

    private final LeaderElection election;

    LeaderInfo(LeaderElection election) {
        this.election = election;
    }

    @Override
    public void contribute(Info.Builder builder) {
        Map<String, Object> elections = new TreeMap<>();
        for (LeaderMember member : election.members()) {
            elections.put(
                    member.name(),
                    member.fence()
                            .<Map<String, Object>>map(fence -> Map.of("leader", true, "fence", fence.value()))
                            .orElse(Map.of("leader", false)));
        }
        if (!elections.isEmpty()) {
            builder.withDetail("leader", elections);
        }
    }
}
