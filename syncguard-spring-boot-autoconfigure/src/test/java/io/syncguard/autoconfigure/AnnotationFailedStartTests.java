package io.syncguard.autoconfigure;

import io.syncguard.DistributedLock;
import io.syncguard.LockMode;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.OnContention;
import io.syncguard.leader.LeaderOnly;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.scheduling.ScheduledLock;
import io.syncguard.spi.LockBackend;
import jakarta.annotation.PostConstruct;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

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
    void neither_name_nor_key() {
        start.with(Nothing.class).reads("annotation-without-key");
    }

    @Test
    void an_expression_that_cannot_be_parsed() {
        start.with(Unparsable.class).reads("annotation-spel");
    }

    @Test
    void a_constant_without_quotes() {
        start.with(Constant.class).reads("annotation-constant");
    }

    @Test
    void a_template_in_the_name() {
        start.with(Template.class).reads("annotation-template");
    }

    @Test
    void an_unknown_election_with_a_dot() {
        start.with(UnknownElectionWithDot.class).reads("annotation-election-dot");
    }

    @Test
    void a_parameter_that_does_not_exist() {
        start.with(UnknownParameter.class).reads("annotation-parameter");
    }

    @Test
    void a_class_that_was_compiled_without_the_names_of_parameters(@TempDir Path directory) throws Exception {
        start.with(compiledWithoutNames(directory)).reads("annotation-parameter-names");
    }

    @Test
    void an_impossible_ttl() {
        start.with(Ttl.class).reads("annotation-ttl");
    }

    @Test
    void permits_that_are_none() {
        start.with(Permits.class).reads("annotation-permits");
    }

    @Test
    void permits_that_are_no_number() {
        start.with(UnreadablePermits.class).with("partner.permits=").reads("annotation-permits-unreadable");
    }

    @Test
    void permits_with_a_fenced_resource() {
        start.with(FencedPermits.class).reads("annotation-permits-fence");
    }

    @Test
    void a_result_that_cannot_be_held() {
        start.with(Lazy.class).reads("annotation-result");
    }

    @Test
    void a_private_method() {
        start.with(Private.class).reads("annotation-private");
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
    void a_bean_in_an_expression_that_does_not_exist() {
        start.with(NoBean.class).reads("annotation-no-bean");
    }

    @Test
    void a_property_that_no_argument_has() {
        start.with(NoProperty.class).reads("annotation-no-property");
    }

    @Test
    void an_unknown_lock_manager() {
        start.with(UnknownManager.class).reads("annotation-manager");
    }

    @Test
    void a_fenced_resource_of_a_shared_lock() {
        start.with(SharedFence.class).reads("annotation-shared-fence");
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
    @CsvSource({
        "Static, annotation-static",
        "Twice, annotation-twice",
        "TwiceByInterfaces, annotation-twice-by-interfaces",
        "TwoNames, annotation-two-names",
        "Unreadable, annotation-unreadable-ttl",
        "Huge, annotation-huge-ttl",
        "Placeholder, annotation-placeholder",
        "ShortLimit, annotation-short-limit",
        "Skipped, annotation-fallback-skip",
        "MistypedFallback, annotation-fallback-typo",
        "SwappedFallback, annotation-fallback-parameters",
        "OwnFallback, annotation-fallback-itself",
        "FallbackCircle, annotation-fallback-circle",
        "Published, annotation-published-fence",
        "MistypedManager, annotation-manager-typo",
        "MistypedBean, annotation-bean-typo",
        "MistypedMethod, annotation-method-typo",
        "OtherArguments, annotation-method-arguments",
        "MistypedParameter, annotation-parameter-typo",
        "MistypedElection, annotation-election-typo"
    })
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

    @DistributedLock("orders")
    static class Twice {

        @ScheduledLock("nightly-report")
        public void report() {}
    }

    interface Importing {

        @DistributedLock("import")
        void run();
    }

    interface Exporting {

        @DistributedLock("export")
        void run();
    }

    static class TwiceByInterfaces implements Importing, Exporting {

        @Override
        public void run() {}
    }

    static class FallbackCircle {

        @DistributedLock(name = "prices", fallback = "storedPrice")
        public void price() {}

        @DistributedLock(name = "stored-prices", fallback = "price")
        public void storedPrice() {}
    }

    static class Nothing {

        @DistributedLock
        public void submit(String orderId) {}
    }

    static class Unparsable {

        @DistributedLock(key = "#orderId +")
        public void submit(String orderId) {}
    }

    static class Constant {

        @DistributedLock(key = "order-import")
        public void submit(String orderId) {}
    }

    static class Template {

        @DistributedLock(name = "order-#{#orderId}")
        public void submit(String orderId) {}
    }

    static class UnknownElectionWithDot {

        @LeaderOnly("reports.daily")
        public void settle() {}
    }

    static class UnknownParameter {

        @DistributedLock(name = "order", key = "#id")
        public void submit(String orderId) {}
    }

    static class Ttl {

        @DistributedLock(name = "order", ttl = "0s")
        public void submit(String orderId) {}
    }

    static class Lazy {

        @DistributedLock(name = "order")
        public Stream<String> submit(String orderId) {
            return Stream.empty();
        }
    }

    static class Private {

        public void call() {
            submit("42");
        }

        @DistributedLock(name = "order")
        private void submit(String orderId) {}
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

    static class NoBean {

        @DistributedLock(name = "order", key = "@tennant.id + #orderId")
        public void submit(String orderId) {}
    }

    record Order(String id, int quantity) {}

    static class NoProperty {

        @DistributedLock(name = "order", key = "#order.idd")
        public void submit(Order order) {}
    }

    static class UnknownManager {

        @DistributedLock(name = "order", lockManager = "redis")
        public void submit(String orderId) {}
    }

    static class SharedFence {

        @DistributedLock(name = "order", mode = LockMode.SHARED, fencedResource = "#orderId")
        public void submit(String orderId) {}
    }

    static class Permits {

        @DistributedLock(name = "order", permits = "10001")
        public void submit(String orderId) {}
    }

    static class UnreadablePermits {

        @DistributedLock(name = "order", permits = "${partner.permits}")
        public void submit(String orderId) {}
    }

    static class FencedPermits {

        @DistributedLock(name = "order", permits = "5", fencedResource = "#orderId")
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

    static class Static {

        @DistributedLock(name = "order")
        public static void submit(String orderId) {}
    }

    static class TwoNames {

        @DistributedLock(value = "order", name = "orders")
        public void submit(String orderId) {}
    }

    static class Unreadable {

        @DistributedLock(name = "order", ttl = "30 secs")
        public void submit(String orderId) {}
    }

    static class Huge {

        @DistributedLock(name = "order", waitTime = "9223372036854775807d")
        public void submit(String orderId) {}
    }

    static class Placeholder {

        @DistributedLock(name = "order", ttl = "${shop.ttl}")
        public void submit(String orderId) {}
    }

    static class ShortLimit {

        @DistributedLock(name = "order", holdAtLeast = "1m30s", holdAtMost = "500ms")
        public void submit(String orderId) {}
    }

    static class Skipped {

        @DistributedLock(name = "order", onContention = OnContention.SKIP, fallback = "later")
        public void submit(String orderId) {}

        public void later(String orderId) {}
    }

    static class MistypedFallback {

        @DistributedLock(name = "order", fallback = "latter")
        public void submit(String orderId) {}

        public void later(String orderId) {}
    }

    static class SwappedFallback {

        @DistributedLock(name = "order", fallback = "later")
        public void submit(String orderId) {}

        public void later(LockNotAcquiredException refusal, String orderId) {}
    }

    static class OwnFallback {

        @DistributedLock(name = "order", fallback = "submit")
        public void submit(String orderId) {}
    }

    static class Published {

        @DistributedLock(name = "order", fencedResource = "#orderId")
        public Mono<String> submit(String orderId) {
            return Mono.just(orderId);
        }
    }

    static class MistypedManager {

        @DistributedLock(name = "order", lockManager = "syncGuardLockManger")
        public void submit(String orderId) {}
    }

    static class MistypedBean {

        @DistributedLock(name = "order", key = "@lockBackent.name + #orderId")
        public void submit(String orderId) {}
    }

    static class MistypedMethod {

        @DistributedLock(name = "order", key = "#order.quantiti()")
        public void submit(Order order) {}
    }

    static class OtherArguments {

        @DistributedLock(name = "order", key = "#order.quantity(1)")
        public void submit(Order order) {}
    }

    static class MistypedParameter {

        @DistributedLock(name = "order", key = "#ordreId")
        public void submit(String orderId) {}
    }

    static class MistypedElection {

        @LeaderOnly("settelment")
        public void settle() {}
    }

    private static Class<?> compiledWithoutNames(Path directory) throws IOException, ClassNotFoundException {
        Path source = directory.resolve("Orders.java");
        Files.writeString(source, """
                public class Orders {
                    @io.syncguard.DistributedLock(name = "order", key = "#orderId")
                    public void submit(String orderId) {}
                }
                """);
        int result = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-cp", System.getProperty("java.class.path"), source.toString());
        if (result != 0) {
            throw new IllegalStateException("javac answered " + result);
        }
        URLClassLoader classes = new URLClassLoader(
                new URL[] {directory.toUri().toURL()}, AnnotationFailedStartTests.class.getClassLoader());
        return classes.loadClass("Orders");
    }
}
