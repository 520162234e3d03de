package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.lettuce.core.MigrateArgs;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.SlotHash;
import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockQuery;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.OwnRedisCluster;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A cluster whose slots move or are missing: no key is granted while another holder has it, and the client finds the
 * new node.
 */
class RedisClusterChangesTests {

    private static final OwnRedisCluster cluster = new OwnRedisCluster();

    @RegisterExtension
    private static final RedisContractStore store = new RedisContractStore(cluster, 1, RedisBatching.AUTO);

    private final AcquireRequest held = Requests.exclusive("order:42", "A".repeat(22), Duration.ofMinutes(10), "test");
    private final AcquireRequest request =
            Requests.exclusive("order:42", "B".repeat(22), Duration.ofMinutes(10), "test");

    private StoreCalls backend;
    private Fence heldFence;
    private int slot;
    private RedisCommands<String, String> owner;
    private RedisCommands<String, String> other;

    @BeforeEach
    void hold() {
        backend = store.emptied().newBackend();
        AcquireResult grant = backend.acquire(held);
        assertThat(grant).isInstanceOf(AcquireResult.Granted.class);
        heldFence = ((AcquireResult.Granted) grant).fence();
        String key = store.key("lock", "order:42");
        slot = SlotHash.getSlot(key);
        owner = cluster.nodeWith(key).commands();
        other = cluster.nodes().stream()
                .map(OwnRedis::commands)
                .filter(node -> node != owner)
                .findFirst()
                .orElseThrow();
    }

    @AfterEach
    void close() {
        backend.close();
    }

    @Test
    void while_the_slot_moves_locks_are_unavailable_and_nobody_is_granted_what_has_not_arrived_yet() {
        beginToMove();

        assertUnavailable("TRYAGAIN", () -> backend.acquire(request));
        assertUnavailable("TRYAGAIN", () -> backend.isLocked("order:42"));
        // A scan of one of both nodes would not find all keys.
        assertUnavailable("ASK", () -> backend.list(LockQuery.all()));
        moveKeys();
        assertUnavailable("TRYAGAIN", () -> backend.acquire(request));

        endMove();
        assertHeldAndNextFence();
    }

    @Test
    void a_slot_that_has_moved_is_followed() {
        beginToMove();
        moveKeys();
        endMove();

        assertHeldAndNextFence();
    }

    @Test
    void a_list_is_unavailable_until_the_driver_knows_where_a_slot_has_moved() {
        assertThat(backend.list(LockQuery.all()).locks()).hasSize(1);
        beginToMove();
        moveKeys();
        endMove();

        // Never an empty list.
        eventually().ignoreExceptionsInstanceOf(LockBackendException.class).until(() -> {
            assertThat(backend.list(LockQuery.all()).locks()).hasSize(1);
            return true;
        });
    }

    @Test
    void a_slot_that_nobody_serves_is_unavailable_and_found_again() {
        owner.clusterDelSlots(slot);

        assertUnavailable("CLUSTERDOWN", () -> backend.acquire(request));

        owner.clusterAddSlots(slot);
        eventually().until(() -> owner.clusterInfo().contains("cluster_state:ok"));
        assertHeldAndNextFence();
    }

    private void beginToMove() {
        other.clusterSetSlotImporting(slot, owner.clusterMyId());
        owner.clusterSetSlotMigrating(slot, other.clusterMyId());
    }

    private void moveKeys() {
        List<String> keys = owner.clusterGetKeysInSlot(slot, 100);
        int port = cluster.nodes().stream()
                .filter(node -> node.commands() == other)
                .findFirst()
                .orElseThrow()
                .port();
        owner.migrate("127.0.0.1", port, 0, 10_000, MigrateArgs.Builder.keys(keys));
        assertThat(other.clusterCountKeysInSlot(slot)).isEqualTo(keys.size());
    }

    private void endMove() {
        String to = other.clusterMyId();
        other.clusterSetSlotNode(slot, to);
        owner.clusterSetSlotNode(slot, to);
        // The third one might tell the others its older knowledge.
        cluster.nodes().forEach(node -> node.commands().clusterSetSlotNode(slot, to));
    }

    private void assertHeldAndNextFence() {
        // A failure shows the last answer, or the last error.
        eventually()
                .untilAsserted(() -> assertThatNoException()
                        .isThrownBy(
                                () -> assertThat(backend.isLocked("order:42")).isTrue()));
        assertThat(backend.acquire(request)).isInstanceOf(AcquireResult.Refused.class);
        assertThat(backend.release(held.lockId())).isEqualTo(ReleaseResult.RELEASED);
        assertThat(backend.acquire(request))
                .isInstanceOfSatisfying(
                        AcquireResult.Granted.class,
                        grant -> assertThat(grant.fence()).isGreaterThan(heldFence));
    }

    private static void assertUnavailable(String word, Runnable call) {
        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(call::run)
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE))
                .satisfies(ex -> assertThat(ex).hasStackTraceContaining(word));
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofMinutes(1)).pollInterval(Duration.ofMillis(20));
    }
}
