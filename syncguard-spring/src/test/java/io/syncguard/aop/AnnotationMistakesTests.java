package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.LockMode;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockSetupException;
import io.syncguard.OnContention;
import io.syncguard.scheduling.ScheduledLock;
import io.syncguard.testing.GoldenMessages;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;
import reactor.core.publisher.Mono;

/** The whole message of each mistake in an annotation: what is wrong, and what to do. */
@Timeout(60)
class AnnotationMistakesTests {

    private static final String WITHOUT_NAMES = "annotation-parameter-names";

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    @ParameterizedTest
    @MethodSource("mistakes")
    void an_annotation_with_a_mistake(Class<?> bean, String mistake) {
        assertMessage(bean, mistake);
    }

    @Test
    void a_class_that_was_compiled_without_the_names_of_parameters(@TempDir Path directory) throws Exception {
        assertMessage(compiledWithoutNames(directory), WITHOUT_NAMES);
    }

    @Test
    void every_message_belongs_to_a_mistake() {
        assertThat(GoldenMessages.all().keySet())
                .hasSizeGreaterThan(30)
                .containsExactlyInAnyOrderElementsOf(Stream.concat(
                                mistakes().map(each -> (String) each.get()[1]), Stream.of(WITHOUT_NAMES))
                        .toList());
    }

    private void assertMessage(Class<?> bean, String mistake) {
        application
                .with(bean)
                .withBean(PropertySourcesPlaceholderConfigurer.class)
                .withPropertyValues("partner.permits=")
                .run(context -> GoldenMessages.compare(
                        mistake,
                        message(context.getStartupFailure()).replace(getClass().getName() + "$", "com.example.")));
    }

    private static String message(@Nullable Throwable failure) {
        assertThat(failure).isNotNull();
        return failure instanceof LockSetupException ? failure.getMessage() : message(failure.getCause());
    }

    static Stream<Arguments> mistakes() {
        return Stream.of(
                Arguments.of(MistypedBean.class, "annotation-bean-typo"),
                Arguments.of(Constant.class, "annotation-constant"),
                Arguments.of(FallbackCircle.class, "annotation-fallback-circle"),
                Arguments.of(OwnFallback.class, "annotation-fallback-itself"),
                Arguments.of(SwappedFallback.class, "annotation-fallback-parameters"),
                Arguments.of(Skipped.class, "annotation-fallback-skip"),
                Arguments.of(MistypedFallback.class, "annotation-fallback-typo"),
                Arguments.of(Huge.class, "annotation-huge-ttl"),
                Arguments.of(OtherArguments.class, "annotation-method-arguments"),
                Arguments.of(MistypedMethod.class, "annotation-method-typo"),
                Arguments.of(NoBean.class, "annotation-no-bean"),
                Arguments.of(NoProperty.class, "annotation-no-property"),
                Arguments.of(UnknownParameter.class, "annotation-parameter"),
                Arguments.of(MistypedParameter.class, "annotation-parameter-typo"),
                Arguments.of(Permits.class, "annotation-permits"),
                Arguments.of(FencedPermits.class, "annotation-permits-fence"),
                Arguments.of(UnreadablePermits.class, "annotation-permits-unreadable"),
                Arguments.of(Placeholder.class, "annotation-placeholder"),
                Arguments.of(Private.class, "annotation-private"),
                Arguments.of(Published.class, "annotation-published-fence"),
                Arguments.of(Lazy.class, "annotation-result"),
                Arguments.of(SharedFence.class, "annotation-shared-fence"),
                Arguments.of(ShortLimit.class, "annotation-short-limit"),
                Arguments.of(Unparsable.class, "annotation-spel"),
                Arguments.of(Static.class, "annotation-static"),
                Arguments.of(Template.class, "annotation-template"),
                Arguments.of(Ttl.class, "annotation-ttl"),
                Arguments.of(Twice.class, "annotation-twice"),
                Arguments.of(TwiceByInterfaces.class, "annotation-twice-by-interfaces"),
                Arguments.of(TwoNames.class, "annotation-two-names"),
                Arguments.of(Unreadable.class, "annotation-unreadable-ttl"),
                Arguments.of(Nothing.class, "annotation-without-key"));
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

    static class UnknownParameter {

        @DistributedLock(name = "order", key = "#id")
        public void submit(String orderId) {}
    }

    static class Ttl {

        @DistributedLock(name = "order", ttl = "0s")
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

    static class NoBean {

        @DistributedLock(name = "order", key = "@tennant.id + #orderId")
        public void submit(String orderId) {}
    }

    static class NoProperty {

        @DistributedLock(name = "order", key = "#order.idd")
        public void submit(Order order) {}
    }

    static class SharedFence {

        @DistributedLock(name = "order", mode = LockMode.SHARED, fencedResource = "#orderId")
        public void submit(String orderId) {}
    }

    static class Static {

        @DistributedLock(name = "order")
        public static void submit(String orderId) {}
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

    static class FallbackCircle {

        @DistributedLock(name = "prices", fallback = "storedPrice")
        public void price() {}

        @DistributedLock(name = "stored-prices", fallback = "price")
        public void storedPrice() {}
    }

    static class Published {

        @DistributedLock(name = "order", fencedResource = "#orderId")
        public Mono<String> submit(String orderId) {
            return Mono.just(orderId);
        }
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

    record Order(String id, int quantity) {}

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
                new URL[] {directory.toUri().toURL()}, AnnotationMistakesTests.class.getClassLoader());
        return classes.loadClass("Orders");
    }
}
