package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.CommitGuard;
import io.syncguard.DistributedLock;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockSetupException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A mistake in the annotation ends the start, and the message says where it is.
 */
@Timeout(60)
class DistributedLockStartupTests {

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(classes = {FencesPublisher.class, GuardsPublisher.class})
    void a_check_in_a_transaction_is_refused_for_a_publisher(Class<?> bean) {
        assertRefused(bean, bean.getSimpleName() + ".run", "a publisher runs in no JDBC transaction");
    }

    @Test
    void a_blank_key_expression_is_refused() {
        assertRefused(BlankKey.class, "BlankKey.run", "'key'");
    }

    @Test
    void a_condition_that_cannot_be_parsed_is_refused() {
        assertRefused(UnparsableCondition.class, "UnparsableCondition.run", "'condition'");
    }

    @Test
    void an_unknown_parameter_in_the_depths_of_an_expression_is_refused() {
        assertRefused(UnknownParameterWithin.class, "UnknownParameterWithin.run", "'key'", "'typo'");
    }

    @Test
    void an_unknown_parameter_in_the_condition_is_refused() {
        assertRefused(UnknownParameterInCondition.class, "UnknownParameterInCondition.run", "'condition'", "'typo'");
    }

    @Test
    void a_parameter_without_its_sign_is_refused_and_the_sign_is_proposed() {
        assertRefused(BareParameter.class, "BareParameter.run", "'key'", "the parameter #order", "\"'order'\"");
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                BareNameInSum.class,
                BareNameOfProperty.class,
                BareNameAsArgument.class,
                BareNameInList.class,
                BareNameInTernary.class,
                BareNameInConstructor.class,
                BareNameWithinIndex.class,
                BareNameAfterProjection.class
            })
    void a_name_that_stands_alone_within_an_expression_is_refused(Class<?> bean) {
        assertRefused(bean, bean.getSimpleName() + ".run", "'key'", "'order' is neither", "#id");
    }

    @Test
    void a_name_that_stands_alone_in_the_condition_is_refused_and_no_name_is_proposed() {
        application.with(BareCondition.class).run(context -> {
            assertMessage(context.getStartupFailure(), "BareCondition.run", "'condition'", "the parameter #enabled");
            assertThat(context.getStartupFailure()).rootCause().message().doesNotContain("name =");
        });
    }

    @Test
    void a_property_that_the_call_does_not_have_is_refused() {
        assertRefused(UnknownOfRoot.class, "UnknownOfRoot.run", "'key'", "'order' of #root", "targetClass");
    }

    @Test
    void a_method_that_the_call_does_not_have_is_refused_and_that_of_the_bean_is_proposed() {
        assertRefused(BareMethod.class, "BareMethod.run", "'key'", "'label'", "#root.target.label(");
    }

    @Test
    void a_function_is_refused() {
        assertRefused(
                UnknownFunction.class, "UnknownFunction.run", "'key'", "'#label(#id)'", "#root.target.label(#id)");
    }

    @Test
    void names_that_mean_something_are_accepted() {
        application
                .with(LegalNames.class)
                .withBean("tenant", Object.class, Object::new)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void a_position_beyond_the_parameters_is_refused() {
        assertRefused(PositionTooLarge.class, "PositionTooLarge.run", "'key'", "'p1'");
    }

    @Test
    void a_name_longer_than_a_key_may_be_is_refused() {
        application
                .with(NameFromProperty.class)
                .withPropertyValues("lock.name=" + "n".repeat(513))
                .run(context -> assertMessage(context.getStartupFailure(), "NameFromProperty.run", "'name'", "512"));
    }

    @Test
    void a_missing_placeholder_is_refused() {
        application
                .with(NameFromProperty.class)
                .withBean(PropertySourcesPlaceholderConfigurer.class)
                .run(context ->
                        assertMessage(context.getStartupFailure(), "NameFromProperty.run", "'name'", "lock.name"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"0s", "0ms", "-1s", "1000d", "abc", "30 seconds", "1us", "1ns", "1500us", "PT0.0001S", "PT"})
    void an_impossible_ttl_is_refused(String ttl) {
        application.with(Ttl.class).withPropertyValues("lock.ttl=" + ttl).run(context -> {
            assertMessage(context.getStartupFailure(), "Ttl.run", "'ttl'");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1s", "PT-0.001S", "366d", "soon"})
    void an_impossible_wait_time_is_refused(String waitTime) {
        application
                .with(WaitTime.class)
                .withPropertyValues("lock.wait=" + waitTime)
                .run(context -> assertMessage(context.getStartupFailure(), "WaitTime.run", "'waitTime'"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1s", "366d", "soon"})
    void an_impossible_time_to_hold_at_least_is_refused(String time) {
        application
                .with(HoldAtLeast.class)
                .withPropertyValues("lock.keep=" + time)
                .run(context -> assertMessage(context.getStartupFailure(), "HoldAtLeast.run", "'holdAtLeast'"));
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                ReturnsStream.class,
                ReturnsIntStream.class,
                ReturnsFutureTask.class,
                ReturnsScheduledFuture.class,
                ReturnsOwnFuture.class
            })
    void a_result_that_is_still_to_come_and_cannot_be_held_is_refused(Class<?> bean) {
        assertRefused(bean, bean.getSimpleName() + ".run", "return type");
    }

    @Test
    void a_final_method_is_refused() {
        assertRefused(FinalMethod.class, "FinalMethod.run", "final");
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                FinalClass.class,
                FinalClassWithFinalMethod.class,
                FinalSubclass.class,
                FinalAnnotatedClass.class,
                FinalCloseable.class,
                FinalConfiguration.class,
                LockedRecord.class,
                SealedClass.class
            })
    void a_class_that_no_proxy_can_extend_is_refused(Class<?> bean) {
        String kind = bean == LockedRecord.class ? "a record" : bean == SealedClass.class ? "sealed" : "final";
        assertRefused(bean, bean.getSimpleName() + ".run", "whose class is " + kind, "LockTemplate");
        application
                .with(bean)
                .withPropertyValues("proxy-target-class=false")
                .run(context -> assertMessage(context.getStartupFailure(), "whose class is " + kind));
    }

    @Test
    void a_final_class_without_a_locked_method_is_accepted() {
        application
                .with(FinalWithoutLock.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void a_final_method_that_is_inherited_is_refused() {
        assertRefused(InheritsFinalMethod.class, "FinalMethod.run", "final");
    }

    @Test
    void a_final_public_method_of_an_annotated_class_is_refused() {
        assertRefused(FinalMethodOfAnnotatedClass.class, "FinalMethodOfAnnotatedClass.run", "final");
    }

    @Test
    void private_and_static_methods_of_an_annotated_class_are_none_of_its_business() {
        application
                .with(AnnotatedClassWithHiddenMethods.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void a_mistake_in_an_annotated_class_is_refused_and_the_method_is_named() {
        assertRefused(AnnotatedClass.class, "AnnotatedClass.withoutId", "'key'", "'id'");
    }

    @Test
    void a_mistake_behind_an_interface_proxy_is_refused_at_the_start_as_well() {
        application
                .with(SecondMethodIsWrong.class)
                .withPropertyValues("proxy-target-class=false")
                .run(context -> assertMessage(context.getStartupFailure(), "second", "'key'", "'typo'"));
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                SpelTemplateInName.class,
                VariableInName.class,
                ArgumentInName.class,
                PositionInName.class,
                FormatInName.class,
                UnresolvedName.class,
                SpelTemplateInKey.class,
                SpelTemplateInQuotes.class,
                PlaceholderInKey.class,
                PlaceholderInQuotes.class,
                VariableInQuotes.class,
                ArgumentInQuotes.class,
                PlaceholderInResource.class,
                PlaceholderInCondition.class
            })
    void what_looks_like_a_template_and_stays_text_is_refused(Class<?> bean) {
        application.with(bean).run(context -> {
            assertMessage(context.getStartupFailure(), bean.getSimpleName() + ".run", "it contains '");
            String advice = bean.getAnnotation(Advice.class).value();
            assertThat(context.getStartupFailure()).hasStackTraceContaining(advice);
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "order:{orderId.value}",
                "order:{orderId?.value}",
                "order:{orderId[0]}",
                "order:{ orderId }",
                "order:{{orderId}}",
                "order:{orderId:d}",
                "order:{orderId,number}",
                "order:{}",
                "order:{ }",
                "order:{0,number,#}",
                "order:{ 0 }",
                "order:{p0}",
                "order:%05d",
                "order:%1$-5s",
                "order:%,d",
                "order:%X",
                "order:%s_import",
                "order:#ordreId",
                "order:#größe"
            })
    void a_template_of_another_language_is_refused_in_the_name_and_in_a_text_of_the_key(String template) {
        application
                .with(TemplateAsName.class)
                .withPropertyValues("lock.template=" + template)
                .run(context -> assertMessage(
                        context.getStartupFailure(), "TemplateAsName.run", "'name'", "which would stay text"));
        assertThatThrownBy(() -> new MethodExpression(
                        "key",
                        "'" + template + "' + #orderId",
                        new MethodParameters(
                                Map.of("p0", 0, "a0", 0, "orderId", 0),
                                TemplateAsName.class.getMethod("run", String.class),
                                TemplateAsName.class,
                                null),
                        (context, bean) -> bean))
                .isInstanceOf(LockSetupException.class)
                .hasMessageContaining("which would stay text");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "order#1",
                "order #",
                "#1 of {shard}",
                "{shard.1}:order",
                "{shard-1}:order",
                "order:orderId",
                "order:orders",
                "order::orders",
                "order:[orders]",
                "order:<orders>",
                "order:$orders",
                "order:$$",
                "50%discount",
                "50% of {shard}",
                "100%"
            })
    void a_name_that_only_resembles_a_template_is_accepted(String name) {
        application
                .with(TemplateAsName.class)
                .withPropertyValues("lock.template=" + name)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void the_parameters_are_named_if_a_template_has_none_of_them() {
        application
                .with(TemplateAsName.class)
                .withPropertyValues("lock.template=order:#ordreId")
                .run(context -> assertMessage(
                        context.getStartupFailure(),
                        "'#ordreId'",
                        "there is no parameter 'ordreId', only [#a0, #orderId, #p0]"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "name = \"order:#orderId\"",
                "name = \"order:{orderId}\"",
                "name = \"order:{orderId.value}\"",
                "key = \"'order:#orderId'\"",
                "key = \"'order:{orderId}'\""
            })
    void a_template_of_a_class_without_the_names_of_parameters_is_refused(String attribute) throws Exception {
        assertRefused(compiledWithoutNames(attribute), "Orders.submit", "which would stay text", "-parameters", "#p0");
    }

    private Class<?> compiledWithoutNames(String attribute) throws Exception {
        Path source = directory.resolve("Orders.java");
        Files.writeString(source, """
                public class Orders {
                    @io.syncguard.DistributedLock(%s)
                    public void submit(String orderId) {}
                }
                """.formatted(attribute));
        int result = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-cp", System.getProperty("java.class.path"), source.toString());
        assertThat(result).isZero();
        URLClassLoader classes = new URLClassLoader(
                new URL[] {directory.toUri().toURL()}, getClass().getClassLoader());
        return classes.loadClass("Orders");
    }

    @Test
    void what_methods_and_patterns_read_is_no_template() {
        application.with(NoTemplates.class).run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void the_advice_for_a_placeholder_in_a_key_works() {
        application.with(FollowedAdvice.class).withPropertyValues("tenant=acme").run(context -> {
            context.getBean(FollowedAdvice.class).run("42");

            assertThat(application.grants("text:acme42")).isEqualTo(1);
        });
    }

    private void assertRefused(Class<?> bean, String... parts) {
        application.with(bean).run(context -> assertMessage(context.getStartupFailure(), parts));
    }

    private static void assertMessage(@Nullable Throwable failure, String... parts) {
        assertThat(failure).isNotNull();
        LockException mistake = causes(failure)
                .filter(LockException.class::isInstance)
                .map(LockException.class::cast)
                .findFirst()
                .orElseThrow(() -> new AssertionError("Failed for another reason", failure));
        assertThat(mistake.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT);
        assertThat(mistake).hasMessageContaining("@DistributedLock").hasMessageContainingAll(parts);
    }

    private static Stream<Throwable> causes(@Nullable Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause);
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface Advice {
        String value();
    }

    @Advice("key = \"#orderId\"")
    static class SpelTemplateInName {

        @DistributedLock(name = "order-#{#orderId}")
        public void run(String orderId) {}
    }

    @Advice("key = \"#orderId\"")
    static class VariableInName {

        @DistributedLock("order-#orderId")
        public void run(String orderId) {}
    }

    @Advice("key = \"#orderId\"")
    static class ArgumentInName {

        @DistributedLock("order-{orderId}")
        public void run(String orderId) {}
    }

    @Advice("key = \"#p0\"")
    static class PositionInName {

        @DistributedLock("order-{0}")
        public void run(String orderId) {}
    }

    @Advice("key = \"#p0\"")
    static class FormatInName {

        @DistributedLock("order-%s")
        public void run(String orderId) {}
    }

    @Advice("Define the property tenant")
    static class UnresolvedName {

        @DistributedLock("order-${tenant}")
        public void run(String orderId) {}
    }

    @Advice("'text:' + #orderId")
    static class SpelTemplateInKey {

        @DistributedLock(key = "order-#{#orderId}")
        public void run(String orderId) {}
    }

    @Advice("'text:' + #orderId")
    static class SpelTemplateInQuotes {

        @DistributedLock(key = "'order-#{#orderId}'")
        public void run(String orderId) {}
    }

    @Advice("@environment.getRequiredProperty('tenant')")
    static class PlaceholderInKey {

        @DistributedLock(key = "${tenant}")
        public void run(String orderId) {}
    }

    @Advice("@environment.getRequiredProperty('tenant')")
    static class PlaceholderInQuotes {

        @DistributedLock(key = "'${tenant:none}:' + #orderId")
        public void run(String orderId) {}
    }

    @Advice("'text:' + #orderId")
    static class VariableInQuotes {

        @DistributedLock(key = "#orderId == null ? 'none' : 'order #orderId'")
        public void run(String orderId) {}
    }

    @Advice("'text:' + #orderId")
    static class ArgumentInQuotes {

        @DistributedLock(key = "'order-{orderId}'")
        public void run(String orderId) {}
    }

    @Advice("@environment.getRequiredProperty('tenant')")
    static class PlaceholderInResource {

        @DistributedLock(name = "order", fencedResource = "{'${tenant}'}")
        public void run(String orderId) {}
    }

    @Advice("@environment.getRequiredProperty('locks')")
    static class PlaceholderInCondition {

        @DistributedLock(name = "order", condition = "'${locks}' == 'on'")
        public void run(String orderId) {}
    }

    static class TemplateAsName {

        @DistributedLock("${lock.template}")
        public void run(String orderId) {}
    }

    static class NoTemplates {

        @DistributedLock(name = "#1 of {shard}", key = "'50% of #' + #orderId + '{tag}'")
        public void ofSigns(String orderId) {}

        @DistributedLock(
                name = "n",
                key = "'order-%s'.formatted(#orderId)",
                condition = "#orderId matches '[a-z]{3}' and #orderId != '#ff'")
        public void ofFormats(String orderId) {}

        @DistributedLock(name = "n", key = "@environment.resolvePlaceholders('${tenant}') + #orderId")
        public void ofArguments(String orderId) {}
    }

    static class FollowedAdvice {

        @DistributedLock(key = "'text:' + @environment.getRequiredProperty('tenant') + #orderId")
        public void run(String orderId) {}
    }

    static class BlankKey {

        @DistributedLock(key = " ")
        public void run() {}
    }

    static class UnparsableCondition {

        @DistributedLock(name = "n", condition = "(")
        public void run() {}
    }

    static class UnknownParameterWithin {

        @DistributedLock(key = "'a' + (#id == null ? {1, 2}.![#this + #typo] : #id)")
        public void run(String id) {}
    }

    static class UnknownParameterInCondition {

        @DistributedLock(name = "n", condition = "#typo > 1")
        public void run(int amount) {}
    }

    static class BareParameter {

        @DistributedLock(key = "order")
        public void run(String order) {}
    }

    static class BareNameInSum {

        @DistributedLock(key = "order + ':' + #id")
        public void run(String id) {}
    }

    static class BareNameOfProperty {

        @DistributedLock(key = "order?.id")
        public void run(String id) {}
    }

    static class BareNameAsArgument {

        @DistributedLock(key = "#id.concat(order)")
        public void run(String id) {}
    }

    static class BareNameInList {

        @DistributedLock(key = "{order, #id}")
        public void run(String id) {}
    }

    static class BareNameInTernary {

        @DistributedLock(key = "#id == null ? order : #id")
        public void run(String id) {}
    }

    static class BareNameInConstructor {

        @DistributedLock(key = "new java.math.BigDecimal(order)")
        public void run(String id) {}
    }

    static class BareNameWithinIndex {

        @DistributedLock(key = "#id[order.first]")
        public void run(List<String> id) {}
    }

    static class BareNameAfterProjection {

        @DistributedLock(key = "#id.![length()].contains(order)")
        public void run(List<String> id) {}
    }

    static class BareCondition {

        @DistributedLock(name = "n", condition = "enabled")
        public void run(boolean enabled) {}
    }

    static class UnknownOfRoot {

        @DistributedLock(key = "{1}.![#root.order]")
        public void run(String order) {}
    }

    static class BareMethod {

        @DistributedLock(key = "label(#id)")
        public void run(String id) {}
    }

    static class UnknownFunction {

        @DistributedLock(key = "#label(#id)")
        public void run(String id) {}
    }

    static class LegalNames {

        @DistributedLock(key = "method.name + args[0] + targetClass.simpleName + getTarget() + class")
        public void ofRoot(String id) {}

        @DistributedLock(key = "#root.method.name + #this.args[0] + #root['method'] + #root.class")
        public void ofNamedRoot(String id) {}

        @DistributedLock(key = "#orders.?[status == 'open'].![customer.id + label(customer)]")
        public void ofElements(List<?> orders) {}

        @DistributedLock(key = "#prices[tea] + {name: #prices}['name'] + @tenant.id + @tenant.of(#prices).id")
        public void ofMapsAndBeans(Map<String, String> prices) {}

        @DistributedLock(key = "T(java.time.DayOfWeek).MONDAY + 'constant' + null + true + 1.5")
        public void ofTypes() {}

        @DistributedLock(key = "new String('a')", condition = "#id instanceof T(String) and #id matches '[a-z]+'")
        public void ofConstructors(Object id) {}
    }

    static class PositionTooLarge {

        @DistributedLock(key = "#p1")
        public void run(String id) {}
    }

    static class NameFromProperty {

        @DistributedLock(name = "${lock.name}")
        public void run() {}
    }

    static class Ttl {

        @DistributedLock(name = "n", ttl = "${lock.ttl}")
        public void run() {}
    }

    static class WaitTime {

        @DistributedLock(name = "n", waitTime = "${lock.wait}")
        public void run() {}
    }

    static class HoldAtLeast {

        @DistributedLock(name = "n", holdAtLeast = "${lock.keep}")
        public void run() {}
    }

    static class FencesPublisher {

        @DistributedLock(name = "n", fencedResource = "#p0")
        public Mono<String> run(String resource) {
            return Mono.empty();
        }
    }

    static class GuardsPublisher {

        @DistributedLock(name = "n", commitGuard = CommitGuard.REQUIRED)
        public Flux<String> run() {
            return Flux.empty();
        }
    }

    static class ReturnsStream {

        @DistributedLock(name = "n")
        public Stream<String> run() {
            return Stream.empty();
        }
    }

    static class ReturnsIntStream {

        @DistributedLock(name = "n")
        public IntStream run() {
            return IntStream.empty();
        }
    }

    static class ReturnsFutureTask {

        @DistributedLock(name = "n")
        public FutureTask<String> run() {
            return new FutureTask<>(() -> "");
        }
    }

    static class ReturnsScheduledFuture {

        @DistributedLock(name = "n")
        public @Nullable ScheduledFuture<String> run() {
            return null;
        }
    }

    static class ReturnsOwnFuture {

        @DistributedLock(name = "n")
        public OwnFuture run() {
            return new OwnFuture();
        }
    }

    static class OwnFuture extends CompletableFuture<String> {}

    static class FinalMethod {

        @DistributedLock(name = "n")
        public final void run() {}
    }

    static final class FinalClass {

        @DistributedLock(name = "n")
        public void run() {}
    }

    static final class FinalClassWithFinalMethod {

        @DistributedLock(name = "n")
        public final void run() {}
    }

    static class OpenClass {

        @DistributedLock(name = "n")
        void run() {}
    }

    static final class FinalSubclass extends OpenClass {}

    @DistributedLock(name = "n")
    static final class FinalAnnotatedClass {

        public void run() {}
    }

    static final class FinalCloseable implements AutoCloseable {

        @DistributedLock(name = "n")
        public void run() {}

        @Override
        public void close() {}
    }

    @Configuration(proxyBeanMethods = false)
    static final class FinalConfiguration {

        @DistributedLock(name = "n")
        public void run() {}
    }

    record LockedRecord() {

        @DistributedLock(name = "n")
        public void run() {}
    }

    static sealed class SealedClass {

        @DistributedLock(name = "n")
        public void run() {}
    }

    static final class OnlySubclass extends SealedClass {}

    static final class FinalWithoutLock {

        public void run() {}
    }

    static class InheritsFinalMethod extends FinalMethod {}

    @DistributedLock(name = "n")
    static class FinalMethodOfAnnotatedClass {

        public void other() {}

        public final void run() {}
    }

    @DistributedLock(name = "n")
    static class AnnotatedClassWithHiddenMethods {

        public void run() {
            hidden();
        }

        private void hidden() {}

        public static void shared() {}
    }

    @DistributedLock(key = "#id")
    static class AnnotatedClass {

        public void withId(String id) {}

        public void withoutId() {}
    }

    interface TwoMethods {

        void first(String id);

        void second(String id);
    }

    static class SecondMethodIsWrong implements TwoMethods {

        @Override
        @DistributedLock(key = "#id")
        public void first(String id) {}

        @Override
        @DistributedLock(key = "#typo")
        public void second(String id) {}
    }
}
