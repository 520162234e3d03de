package io.syncguard.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.core.ContractStore;
import io.syncguard.core.EngineSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.aggregator.AggregatingMessageHandler;
import org.springframework.integration.aggregator.DefaultAggregatingMessageGroupProcessor;
import org.springframework.integration.aggregator.MessageCountReleaseStrategy;
import org.springframework.integration.channel.QueueChannel;
import org.springframework.integration.config.EnableIntegration;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.leader.event.DefaultLeaderEventPublisher;
import org.springframework.integration.store.MessageGroupStore.MessageGroupCallback;
import org.springframework.integration.store.SimpleMessageStore;
import org.springframework.integration.support.MessageBuilder;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.messaging.Message;

/**
 * Spring Integration's users of a lock registry, in two processes on one store. A
 * {@link io.syncguard.core.ContractStoreProvider} provides the store, empty for each test.
 */
public abstract class LockRegistryContract {

    /** The next heartbeat detects a loss, after at most a third of this ttl. */
    private static final Duration TTL = Duration.ofSeconds(3);

    private static final EngineSettings SETTINGS = new EngineSettings(
            "test",
            TTL,
            Duration.ofSeconds(5),
            Duration.ofMillis(1),
            Duration.ofMillis(10),
            Duration.ZERO,
            Duration.ZERO,
            Map.of());

    private final List<LockEngine> engines = new ArrayList<>();
    private final List<Node> nodes = new ArrayList<>();
    private final AtomicInteger leaders = new AtomicInteger();

    private ContractStore store;
    private SyncGuardLockRegistry here;
    private SyncGuardLockRegistry there;

    @BeforeEach
    void openProcesses(ContractStore empty) {
        store = empty;
        here = process();
        there = process();
    }

    @AfterEach
    void closeProcesses() {
        nodes.forEach(node -> node.initiator.stop());
        nodes.forEach(node -> eventually().until(() -> !node.isLeader()));
        engines.forEach(LockEngine::close);
    }

    @Test
    void only_one_of_two_initiators_leads_and_the_other_one_follows_when_it_stops() {
        Node first = node(here);
        eventually().until(first::isLeader);
        Node second = node(there);
        await().during(Duration.ofMillis(300)).until(() -> first.isLeader() && !second.isLeader());

        first.initiator.stop();

        eventually().until(second::isLeader);
        // The initiator releases its lock before it tells its candidate.
        eventually().until(() -> !first.isLeader() && leaders.get() == 1);
    }

    @Test
    void a_leader_that_yields_hands_over() {
        Node first = node(here);
        eventually().until(first::isLeader);
        Node second = node(there);

        eventually().until(() -> {
            if (first.isLeader()) {
                first.initiator.getContext().yield();
            }
            return second.isLeader();
        });

        eventually().until(() -> !first.isLeader());
    }

    @Test
    void a_leader_that_lost_its_lock_is_revoked_and_one_of_the_two_leads_again() {
        Node first = node(here);
        eventually().until(first::isLeader);

        store.expire("integration:scheduler");

        eventually().until(() -> first.revocations.get() == 1);
        eventually().until(first::isLeader);
        Node second = node(there);
        first.initiator.stop();
        eventually().until(second::isLeader);
    }

    @Test
    void two_aggregators_on_one_message_store_release_each_group_once() throws Exception {
        int groups = 10;
        int size = 4;
        SimpleMessageStore messages = new SharedMessageStore();
        QueueChannel output = new QueueChannel();
        ExecutorService senders = Executors.newFixedThreadPool(size);
        try (ConfigurableApplicationContext spring = new AnnotationConfigApplicationContext(Integration.class)) {
            List<AggregatingMessageHandler> aggregators = Stream.of(here, there)
                    .map(registry -> aggregator(spring, registry, messages, output, size))
                    .toList();
            List<Future<?>> sent = new ArrayList<>();
            for (int group = 0; group < groups; group++) {
                for (int i = 0; i < size; i++) {
                    Message<?> message = MessageBuilder.withPayload(i)
                            .setCorrelationId("group-" + group)
                            .build();
                    AggregatingMessageHandler aggregator = aggregators.get(i % 2);
                    sent.add(senders.submit(() -> aggregator.handleMessage(message)));
                }
            }
            for (Future<?> each : sent) {
                each.get();
            }
        } finally {
            senders.shutdown();
        }

        assertThat(output.clear())
                .hasSize(groups)
                .allSatisfy(message -> assertThat((List<?>) message.getPayload())
                        .asInstanceOf(InstanceOfAssertFactories.LIST)
                        .containsExactlyInAnyOrderElementsOf(
                                IntStream.range(0, size).boxed().toList()));
    }

    private SyncGuardLockRegistry process() {
        LockEngine engine = new LockEngine(store.newBackend(), SETTINGS, TransactionBoundary.NONE, List.of());
        engines.add(engine);
        return new SyncGuardLockRegistry(engine, "integration", TTL);
    }

    private Node node(SyncGuardLockRegistry registry) {
        Node node = new Node(registry);
        nodes.add(node);
        node.initiator.start();
        return node;
    }

    private static AggregatingMessageHandler aggregator(
            ConfigurableApplicationContext spring,
            SyncGuardLockRegistry registry,
            SimpleMessageStore messages,
            QueueChannel output,
            int size) {
        AggregatingMessageHandler aggregator =
                new AggregatingMessageHandler(new DefaultAggregatingMessageGroupProcessor(), messages);
        aggregator.setBeanFactory(spring.getBeanFactory());
        aggregator.setLockRegistry(registry);
        aggregator.setReleaseStrategy(new MessageCountReleaseStrategy(size));
        aggregator.setExpireGroupsUponCompletion(true);
        aggregator.setOutputChannel(output);
        aggregator.afterPropertiesSet();
        aggregator.start();
        return aggregator;
    }

    private static ConditionFactory eventually() {
        return await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(5));
    }

    /** A message store without expiry, so that the aggregators of two processes may share it. */
    private static final class SharedMessageStore extends SimpleMessageStore {

        @Override
        public void registerMessageGroupExpiryCallback(MessageGroupCallback callback) {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableIntegration
    static class Integration {}

    /** One process in the election. */
    private final class Node {

        private final AtomicInteger revocations = new AtomicInteger();
        private final LockRegistryLeaderInitiator initiator;

        Node(SyncGuardLockRegistry registry) {
            initiator = new LockRegistryLeaderInitiator(registry, new DefaultCandidate("node", "scheduler") {
                @Override
                public void onGranted(Context context) {
                    leaders.incrementAndGet();
                }

                @Override
                public void onRevoked(Context context) {
                    leaders.decrementAndGet();
                    revocations.incrementAndGet();
                }
            });
            initiator.setHeartBeatMillis(100);
            initiator.setBusyWaitMillis(10);
            initiator.setLeaderEventPublisher(new DefaultLeaderEventPublisher(event -> {}));
        }

        boolean isLeader() {
            return initiator.getContext().isLeader();
        }
    }
}
