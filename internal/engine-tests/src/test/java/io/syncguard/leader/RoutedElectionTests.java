package io.syncguard.leader;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockException;
import io.syncguard.LockManager;
import io.syncguard.core.EngineFixture;
import io.syncguard.testing.Tenant;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An election has one store, whatever tenant the threads belong to that use it. */
@Timeout(60)
class RoutedElectionTests {

    private static final String KEY = "leader:scheduler";

    @RegisterExtension
    private final EngineFixture north = new EngineFixture();

    @RegisterExtension
    private final EngineFixture south = new EngineFixture();

    private final LockManager withDefault =
            LockManager.routing(() -> "south".equals(Tenant.current()) ? south.engine : north.engine);
    private final LockManager withoutDefault = LockManager.routing(() -> managerOf(Tenant.current()));

    private @Nullable LeaderElection election;

    @AfterEach
    void close() {
        if (election != null) {
            election.close();
        }
    }

    @Test
    void a_thread_of_another_tenant_finds_the_leader() throws Exception {
        LeaderElection one = startedOn(withDefault);
        LeaderMember member = one.join("scheduler");
        eventually().until(member::isLeader);

        assertThat(Tenant.as("south", () -> one.leader("scheduler"))).isPresent();
    }

    @Test
    void so_does_a_process_that_has_not_defined_the_election() throws Exception {
        try (LeaderElection another = new LeaderElection(withDefault, "node-2", Duration.ZERO)) {
            another.start();
            LeaderMember member = startedOn(withDefault).join("scheduler");
            eventually().until(member::isLeader);

            assertThat(Tenant.as("south", () -> another.leader("scheduler"))).isPresent();
        }
    }

    @Test
    void a_join_by_a_thread_of_a_tenant_is_in_the_default_store_as_in_all_processes() throws Exception {
        LeaderElection one = startedOn(withDefault);

        LeaderMember member = Tenant.as("south", () -> one.join("scheduler"));

        eventually().until(member::isLeader);
        assertThat(north.engine.isLocked(KEY)).isTrue();
        assertThat(south.store.fence(KEY)).isZero();
    }

    @Test
    void without_a_default_the_thread_that_joins_decides_for_the_campaign() throws Exception {
        LeaderElection one = startedOn(withoutDefault);

        LeaderMember member = Tenant.as("south", () -> one.join("scheduler"));

        eventually().until(member::isLeader);
        assertThat(south.engine.isLocked(KEY)).isTrue();
        assertThat(Tenant.as("north", () -> one.leader("scheduler"))).isPresent();
        assertThatThrownBy(() -> one.join("another"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("no tenant");
    }

    @Test
    void an_election_is_not_defined_for_two_tenants() throws Exception {
        LeaderElection one = startedOn(withDefault);
        Tenant.as("south", () -> one.define("scheduler", LeaderSettings.defaults(), withDefault));

        assertThat(Tenant.as("south", () -> one.define("scheduler", LeaderSettings.defaults(), withDefault)))
                .isSameAs(one.member("scheduler"));
        assertThatThrownBy(() -> one.define("scheduler", LeaderSettings.defaults(), withDefault))
                .isInstanceOf(LockException.class)
                .hasMessageContaining("another lock manager");
    }

    private LeaderElection startedOn(LockManager locks) {
        election = new LeaderElection(locks, "node-1", Duration.ZERO);
        election.start();
        return election;
    }

    private LockManager managerOf(@Nullable String tenant) {
        if (tenant == null) {
            throw new IllegalStateException("no tenant");
        }
        return tenant.equals("south") ? south.engine : north.engine;
    }
}
