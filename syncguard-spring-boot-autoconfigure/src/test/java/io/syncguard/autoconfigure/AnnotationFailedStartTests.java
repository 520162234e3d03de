package io.syncguard.autoconfigure;

import io.syncguard.DistributedLock;
import io.syncguard.leader.LeaderOnly;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.LockBackend;
import jakarta.annotation.PostConstruct;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What a person reads if an annotation has a mistake. */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(120)
class AnnotationFailedStartTests {

    private final FailedStart start;

    AnnotationFailedStartTests(CapturedOutput output) {
        this.start = new FailedStart(output)
                .with(Store.class)
                .with(FailedStart.NO_DATA_SOURCE)
                .whereas(AnnotationFailedStartTests.class.getName() + "$", "com.example.");
    }

    @Test
    void an_unknown_election_with_a_dot() {
        start.with(UnknownElectionWithDot.class).reads("annotation-election-dot");
    }

    @Test
    void a_method_that_spring_calls_without_its_proxy() {
        start.with(Init.class).reads("annotation-lifecycle");
    }

    @Test
    void a_method_that_spring_calls_without_its_proxy_at_the_end() {
        start.with(End.class).reads("annotation-lifecycle-end");
    }

    @Test
    void a_method_for_leaders_that_spring_calls_without_its_proxy() {
        start.with(LeaderInit.class).reads("annotation-leader-lifecycle");
    }

    @Test
    void a_final_class() {
        start.with(Final.class).reads("annotation-final-class");
    }

    @Test
    void a_final_class_whose_interface_is_not_proxied() {
        start.with(FinalOfApi.class).reads("annotation-final-class-of-interface");
    }

    @Test
    void a_record_that_only_a_leader_calls() {
        start.with(LeaderRecord.class).reads("annotation-final-class-leader");
    }

    @Test
    void an_unknown_lock_manager() {
        start.with(UnknownManager.class).reads("annotation-manager");
    }

    @Test
    void a_fenced_resource_without_a_guard() {
        start.with(Fenced.class).reads("annotation-no-guard");
    }

    @Test
    void an_unknown_election() {
        start.with(UnknownElection.class).reads("annotation-election");
    }

    @ParameterizedTest
    @CsvSource({"MistypedManager, annotation-manager-typo", "MistypedElection, annotation-election-typo"})
    void an_annotation_with_a_mistake(String type, String mistake) throws ClassNotFoundException {
        start.with(Class.forName(getClass().getName() + "$" + type))
                .with("syncguard.leader.elections.settlement.auto-startup=false")
                .reads(mistake);
    }

    @Configuration(proxyBeanMethods = false)
    static class Store {

        @Bean
        LockBackend lockBackend() {
            return new InMemoryLockBackend();
        }
    }

    static class UnknownElectionWithDot {

        @LeaderOnly("reports.daily")
        public void settle() {}
    }

    static class Init {

        @PostConstruct
        @DistributedLock("order")
        public void load() {}
    }

    static class End implements DisposableBean {

        @DistributedLock("order")
        @Override
        public void destroy() {}
    }

    static class LeaderInit {

        @PostConstruct
        @LeaderOnly("settlement")
        public void settle() {}
    }

    static final class Final {

        @DistributedLock(name = "order", key = "#orderId")
        public void submit(String orderId) {}
    }

    interface Api {

        void submit(String orderId);
    }

    static final class FinalOfApi implements Api {

        @Override
        @DistributedLock(name = "order", key = "#orderId")
        public void submit(String orderId) {}
    }

    record LeaderRecord() {

        @LeaderOnly("settlement")
        public void settle() {}
    }

    static class UnknownManager {

        @DistributedLock(name = "order", lockManager = "redis")
        public void submit(String orderId) {}
    }

    static class Fenced {

        @DistributedLock(name = "order", fencedResource = "#orderId")
        public void submit(String orderId) {}
    }

    static class UnknownElection {

        @LeaderOnly("settlement")
        public void settle() {}
    }

    static class MistypedManager {

        @DistributedLock(name = "order", lockManager = "syncGuardLockManger")
        public void submit(String orderId) {}
    }

    static class MistypedElection {

        @LeaderOnly("settelment")
        public void settle() {}
    }
}
