package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lettuce.core.cluster.SlotHash;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockHandles;
import io.syncguard.LockMode;
import io.syncguard.LockRequest;
import io.syncguard.core.ContractFixture;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.OwnRedisCluster;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.WakeUpListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Many locks in four shards on three masters: each has its own place, and requests for many go to all at once. */
class RedisClusterShardsTests extends ContractFixture {

    private static final int LOCKS = 200;

    private static final OwnRedisCluster cluster = new OwnRedisCluster();

    @RegisterExtension
    private static final RedisContractStore store = new RedisContractStore(cluster, 4, RedisBatching.AUTO);

    @Test
    void all_masters_have_a_part_of_the_locks() {
        heldLocks();

        assertThat(cluster.nodes())
                .extracting(RedisClusterShardsTests::heldOn)
                .allSatisfy(held -> assertThat(held).isBetween(LOCKS / 10, LOCKS * 2 / 3));
        assertThat(cluster.nodes().stream()
                        .mapToInt(RedisClusterShardsTests::heldOn)
                        .sum())
                .isEqualTo(LOCKS);
    }

    @Test
    void all_keys_of_a_lock_are_on_one_node() {
        AcquireRequest holder = held(writer());
        queuedWriter();
        queuedReader();

        int slot = SlotHash.getSlot(store.key("lock", KEY));
        assertThat(SlotHash.getSlot(store.key("id", holder.lockId()))).isEqualTo(slot);
        assertThat(cluster.nodeWith(store.key("lock", KEY)).commands().clusterCountKeysInSlot(slot))
                .as("lease, queue, two sets of waiters, three ids, two counters: its own, and that of the health")
                .isEqualTo(9);
    }

    @Test
    void answers_for_many_locks_come_in_the_order_of_the_request() {
        List<AcquireRequest> requests = heldLocks();
        List<KeyedLockId> ids = new ArrayList<>(
                requests.stream().map(AcquireRequest::keyedLockId).toList());
        ids.add(newKeyedLockId());
        ids.add(new KeyedLockId("_".repeat(22)));
        Collections.shuffle(ids, new Random(42));
        List<Boolean> known = ids.stream()
                .map(id -> requests.stream()
                        .anyMatch(request -> request.keyedLockId().equals(id)))
                .toList();

        assertThat(backend().extendAll(extensions(ids)))
                .extracting(ExtendResult.Extended.class::isInstance)
                .isEqualTo(known);
        assertThat(backend().releaseAll(ids))
                .extracting(ReleaseResult.RELEASED::equals)
                .isEqualTo(known);
        assertThat(backend().releaseAll(ids)).containsOnly(ReleaseResult.NOT_FOUND);
    }

    @Test
    void keys_of_one_caller_in_several_shards_are_all_acquired_or_none() {
        List<AcquireRequest> taken = heldLocks();
        List<LockRequest> free = taken.stream()
                .map(holder -> LockRequest.of("free " + holder.key()).waitTime(Duration.ofHours(1)))
                .toList();
        List<LockRequest> notFree = new ArrayList<>(free);
        notFree.add(5, LockRequest.of(taken.get(5).key()));
        try (LockEngine engine =
                new LockEngine(store.newBackend(), DefaultSettings.of("test"), TransactionBoundary.NONE, List.of())) {
            assertThat(engine.tryAcquire(notFree)).isNull();
            assertThat(free).noneMatch(request -> backend().isLocked(request.key()));

            LockHandles handles = engine.acquire(free);
            assertThat(handles.all()).allMatch(lock -> backend().isLocked(lock.key()));
            handles.close();
            assertThat(handles.all()).noneMatch(lock -> backend().isLocked(lock.key()));
        }
    }

    @Test
    void waiters_in_all_shards_are_renewed_and_woken() {
        List<Long> woken = new CopyOnWriteArrayList<>();
        backend().connect(wakeUps(woken));
        List<AcquireRequest> holders = heldLocks();
        List<AcquireRequest> waiters = holders.stream()
                .map(holder -> waiting(request(holder.key(), LockMode.EXCLUSIVE, TTL)))
                .toList();
        waiters.forEach(this::queued);
        List<KeyedLockId> ids = new ArrayList<>(
                waiters.stream().map(AcquireRequest::keyedLockId).toList());
        ids.add(7, new KeyedLockId("_".repeat(22)));
        Awaitility.await().until(backend()::isConnected);

        List<Duration> nextLooks = backend().renewWaiters(ids);
        holders.forEach(this::release);

        assertThat(nextLooks.remove(7)).isZero();
        assertThat(nextLooks).hasSize(LOCKS).allSatisfy(nextLook -> assertLeft(nextLook, TTL.plus(TOLERANCE)));
        eventually()
                .untilAsserted(() -> assertThat(woken)
                        .containsExactlyInAnyOrderElementsOf(waiters.stream()
                                .map(AcquireRequest::waiterNumber)
                                .toList()));
    }

    @Test
    void a_request_for_many_locks_is_one_script_for_each_shard() {
        List<KeyedLockId> ids =
                heldLocks().stream().map(AcquireRequest::keyedLockId).toList();
        backend().extendAll(extensions(ids));
        cluster.nodes().forEach(node -> node.commands().configResetstat());

        backend().extendAll(extensions(ids));

        assertThat(cluster.nodes().stream()
                        .mapToInt(RedisClusterShardsTests::scripts)
                        .sum())
                .isEqualTo(4);
    }

    @Test
    void one_lock_by_its_lock_id_is_one_script() {
        AcquireRequest first = held(writer());
        release(first);
        AcquireRequest holder = held(writer());
        backend().lookupById(holder.keyedLockId());
        extend(holder, TTL);
        cluster.nodes().forEach(node -> node.commands().configResetstat());

        extend(holder, TTL);
        backend().lookupById(holder.keyedLockId());
        release(holder);

        assertThat(cluster.nodes().stream()
                        .mapToInt(RedisClusterShardsTests::scripts)
                        .sum())
                .isEqualTo(3);
    }

    @Test
    void the_scripts_for_all_shards_are_sent_before_the_first_answer_has_come() {
        List<KeyedLockId> ids =
                heldLocks().stream().map(AcquireRequest::keyedLockId).toList();
        // Afterwards each node knows the script.
        backend().extendAll(extensions(ids));
        cluster.nodes().forEach(OwnRedis::pauseWrites);
        try {
            CompletableFuture<List<ExtendResult>> answers =
                    CompletableFuture.supplyAsync(() -> backend().extendAll(extensions(ids)));

            eventually()
                    .until(() -> cluster.nodes().stream()
                            .allMatch(node -> node.commands().info("clients").contains("blocked_clients:1\r\n")));
            cluster.nodes().forEach(OwnRedis::goOn);

            assertThat(answers.join()).hasSize(LOCKS).hasOnlyElementsOfType(ExtendResult.Extended.class);
        } finally {
            cluster.nodes().forEach(OwnRedis::goOn);
        }
    }

    @Test
    void a_master_that_stands_still_costs_the_locks_on_the_others_nothing() {
        List<AcquireRequest> holders = heldLocks();
        List<KeyedLockId> ids =
                holders.stream().map(AcquireRequest::keyedLockId).toList();
        List<AcquireRequest> waiters = holders.stream()
                .map(holder -> waiting(request(holder.key(), LockMode.EXCLUSIVE, TTL)))
                .toList();
        waiters.forEach(this::queued);
        OwnRedis silent = cluster.nodeWith(store.key("lock", KEY));
        List<Boolean> away = holders.stream()
                .map(holder -> cluster.nodeWith(store.key("lock", holder.key())) == silent)
                .toList();
        try (StoreCalls impatient = store.newBackend(Duration.ofMillis(500))) {
            impatient.extendAll(extensions(ids));
            impatient.renewWaiters(
                    waiters.stream().map(AcquireRequest::keyedLockId).toList());
            Runnable goOn = silent.freeze();
            try {
                ids.stream()
                        .collect(Collectors.groupingBy(id -> impatient.serverOf(id.lockId())))
                        .values()
                        .forEach(part -> {
                            ThrowingCallable extension = () -> assertThat(impatient.extendAll(extensions(part)))
                                    .hasOnlyElementsOfType(ExtendResult.Extended.class);
                            if (away.get(ids.indexOf(part.get(0)))) {
                                assertUnavailable(() -> impatient.extendAll(extensions(part)));
                            } else {
                                assertThatCode(extension).doesNotThrowAnyException();
                            }
                        });
                assertUnavailable(() -> impatient.releaseAll(ids));
                assertUnavailable(() -> impatient.releaseTogether(ids));
                assertUnavailable(() -> impatient.release(ids.get(away.indexOf(true))));
                assertThat(impatient.release(ids.get(away.indexOf(false))))
                        .as("released before")
                        .isEqualTo(ReleaseResult.NOT_FOUND);
            } finally {
                goOn.run();
            }
        }
    }

    @Test
    void when_all_fail_the_request_fails() {
        List<KeyedLockId> ids =
                heldLocks().stream().map(AcquireRequest::keyedLockId).toList();
        try (StoreCalls impatient = store.newBackend(Duration.ofMillis(200))) {
            impatient.extendAll(extensions(ids));
            cluster.nodes().forEach(OwnRedis::pauseWrites);
            try {
                assertUnavailable(() -> impatient.extendAll(extensions(ids)));
            } finally {
                cluster.nodes().forEach(OwnRedis::goOn);
            }
        }
    }

    @Test
    void a_lock_id_of_no_shard_is_not_found() {
        String nobodys = "_".repeat(22);
        held(writer());

        assertThat(backend().release(nobodys)).isEqualTo(ReleaseResult.NOT_FOUND);
        assertThat(backend().releaseAfter(nobodys, TTL)).isEqualTo(ReleaseResult.NOT_FOUND);
        assertThat(backend().releaseAll(List.of(new KeyedLockId(nobodys)))).containsExactly(ReleaseResult.NOT_FOUND);
        assertThat(backend().releaseTogether(List.of(new KeyedLockId(nobodys))))
                .containsExactly(ReleaseResult.NOT_FOUND);
        assertThat(backend().extend(Requests.extension(nobodys, TTL))).isInstanceOf(ExtendResult.NotFound.class);
        assertThat(backend().rotate(Requests.extension(nobodys, TTL))).isInstanceOf(ExtendResult.NotFound.class);
        assertThat(backend().renewWaiters(List.of(new KeyedLockId(nobodys)))).containsExactly(Duration.ZERO);
        assertThat(backend().lookupById(nobodys)).isEmpty();
    }

    /** It would be a lease that nobody can extend or release. */
    @Test
    void a_lock_id_of_another_shard_is_refused() {
        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(() -> backend().acquire(Requests.exclusive(KEY, "A".repeat(22), TTL, "test")))
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                .withMessageContaining("The lock id does not fit lock 'order:42'");
        assertThat(backend().isLocked(KEY)).isFalse();
    }

    private List<AcquireRequest> heldLocks() {
        return IntStream.range(0, LOCKS)
                .mapToObj(i -> held(request("order:" + i, LockMode.EXCLUSIVE, TTL)))
                .toList();
    }

    private static List<ExtendRequest> extensions(List<KeyedLockId> ids) {
        return ids.stream()
                .map(id -> Requests.extension(id.key(), id.lockId(), TTL))
                .toList();
    }

    private static void assertUnavailable(Runnable call) {
        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(call::run)
                .satisfies(ex ->
                        assertThat(ex.code()).isIn(LockErrorCode.NETWORK_TIMEOUT, LockErrorCode.SERVICE_UNAVAILABLE));
    }

    private static int heldOn(OwnRedis node) {
        return node.commands().keys(store.prefixPattern() + "lock:*").size();
    }

    /** How many scripts were run since the last reset. */
    private static int scripts(OwnRedis node) {
        return node.commands()
                .info("commandstats")
                .lines()
                .filter(line -> line.startsWith("cmdstat_eval"))
                .mapToInt(line -> Integer.parseInt(line.replaceFirst("[^=]*=(\\d+).*", "$1")))
                .sum();
    }

    private static WakeUpListener wakeUps(List<Long> woken) {
        return new WakeUpListener() {
            @Override
            public void wake(long waiter) {
                woken.add(waiter);
            }

            @Override
            public void handOver(long waiter, AcquireResult.Granted grant) {}

            @Override
            public void wakeUpsMissed() {}
        };
    }

    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(5));
    }
}
