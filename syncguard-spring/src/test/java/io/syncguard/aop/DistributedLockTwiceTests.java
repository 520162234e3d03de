package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockSetupException;
import io.syncguard.scheduling.ScheduledLock;
import jakarta.annotation.PostConstruct;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.annotation.AliasFor;

/** A call takes one lock, so a second annotation for the same method ends the start. */
@Timeout(60)
class DistributedLockTwiceTests {

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    @ParameterizedTest
    @ValueSource(
            classes = {
                BothOnMethod.class,
                ComposedOnMethod.class,
                TwoComposedOnMethod.class,
                RepeatedOnMethod.class,
                ComposedOfTwo.class,
                BothOnClass.class,
                OtherKindOnClass.class,
                OtherKindOnSuperclass.class,
                OtherKindOverridden.class,
                OtherKindOfInterface.class,
                OtherKindOnInterface.class,
                OtherKindOfGenericInterface.class,
                OfTwoInterfaces.class,
                OnTwoInterfaces.class,
                OfSuperclassAndInterface.class,
                ImplementedAboveInterface.class,
                ImplementedAboveGenericInterface.class,
                ImplementedAboveComposedGenericInterface.class,
                ImplementedAboveSubtypeOfGenericInterface.class,
                ImplementedAboveArrayInterface.class,
                GenericImplementedAboveInterface.class,
                OtherKindBelowAnnotatedMethod.class,
                OtherKindBelowAnnotatedClass.class,
                OtherKindBelowAnnotatedInterface.class,
                OtherKindBelowDefaultMethod.class,
                AnnotatedBelowAnnotatedClass.class,
                InheritedBoth.class
            })
    void two_locks_for_one_method_are_refused(Class<?> bean) {
        for (boolean classProxies : new boolean[] {true, false}) {
            application
                    .with(bean)
                    .withPropertyValues("proxy-target-class=" + classProxies)
                    .run(context -> assertThat(context.getStartupFailure())
                            .rootCause()
                            .isInstanceOf(LockSetupException.class)
                            .message()
                            .startsWith("@DistributedLock on ")
                            .contains(".run: ", "only one"));
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                SameKindOnClass.class,
                SameComposedOnClass.class,
                SameKindOverridden.class,
                SameKindOfInterface.class,
                NearerSuperclass.class,
                NearerInterface.class,
                NearerAnnotatedSuperclass.class,
                SingleInContainer.class,
                SameKindBelowAnnotatedMethod.class
            })
    void the_nearest_of_one_kind_counts(Class<? extends Job> bean) {
        for (boolean classProxies : new boolean[] {true, false}) {
            application
                    .with(bean)
                    .withPropertyValues("proxy-target-class=" + classProxies)
                    .run(context -> assertThat(context.getBean(Job.class).run()).contains("near"));
        }
    }

    @Test
    void equal_annotations_of_two_interfaces_are_one() {
        application
                .with(OfTwoEqualInterfaces.class)
                .run(context -> assertThat(
                                context.getBean(OfTwoEqualInterfaces.class).run())
                        .contains("far"));
    }

    @Test
    void an_overload_is_no_implementation_of_a_generic_method() {
        application.with(Overloaded.class).run(context -> {
            Overloaded bean = context.getBean(Overloaded.class);

            assertThat(bean.run("text")).contains("near");
            assertThat(bean.run(1)).contains("other");
        });
    }

    @Test
    void an_annotated_class_does_not_concern_methods_that_are_not_public() {
        application
                .with(PackagePrivateBelowOtherKind.class)
                .run(context -> assertThat(context.getBean(PackagePrivateBelowOtherKind.class)
                                .run())
                        .contains("near"));
    }

    @ParameterizedTest
    @ValueSource(classes = {RepeatedOnPrivate.class, RepeatedAtTheBeginning.class})
    void a_repeated_annotation_counts_where_no_proxy_sees_the_call(Class<?> bean) {
        application
                .with(bean)
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(LockSetupException.class)
                        .message()
                        .contains(".run", "no proxy"));
    }

    private static Optional<String> lockedKey() {
        return LockHandle.current().map(LockHandle::key);
    }

    @Retention(RetentionPolicy.RUNTIME)
    @DistributedLock
    @Repeatable(OrderLocks.class)
    @interface OrderLock {

        @AliasFor(annotation = DistributedLock.class, attribute = "name")
        String value();
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface OrderLocks {

        OrderLock[] value();
    }

    @Retention(RetentionPolicy.RUNTIME)
    @ScheduledLock("job")
    @interface JobLock {}

    @Retention(RetentionPolicy.RUNTIME)
    @ScheduledLock("one")
    @DistributedLock("two")
    @interface TwoLocks {}

    public interface Job {

        Optional<String> run();
    }

    interface Far extends Job {

        @Override
        @DistributedLock("far")
        Optional<String> run();
    }

    interface FarAsWell {

        @DistributedLock("far")
        Optional<String> run();
    }

    interface Other {

        @DistributedLock("other")
        Optional<String> run();
    }

    interface Near extends Far {

        @Override
        @DistributedLock("near")
        Optional<String> run();
    }

    interface OfGeneric<T> {

        @OrderLock("generic")
        Optional<String> run(T value);
    }

    @DistributedLock("far")
    interface AnnotatedFar extends Job {}

    @DistributedLock("other")
    interface AnnotatedOther {}

    @OrderLock("order")
    interface AnnotatedOtherKind extends Job {}

    static class Plain implements Job {

        @Override
        public Optional<String> run() {
            return lockedKey();
        }
    }

    static class WithoutInterface {

        @DistributedLock("far")
        public Optional<String> run() {
            return lockedKey();
        }
    }

    static class BothOnMethod extends Plain {

        @Override
        @ScheduledLock("one")
        @DistributedLock("two")
        public Optional<String> run() {
            return super.run();
        }
    }

    static class InheritedBoth extends BothOnMethod {}

    static class ComposedOnMethod extends Plain {

        @Override
        @OrderLock("one")
        @DistributedLock("two")
        public Optional<String> run() {
            return super.run();
        }
    }

    static class TwoComposedOnMethod extends Plain {

        @Override
        @OrderLock("one")
        @JobLock
        public Optional<String> run() {
            return super.run();
        }
    }

    static class RepeatedOnMethod extends Plain {

        @Override
        @OrderLock("one")
        @OrderLock("two")
        public Optional<String> run() {
            return super.run();
        }
    }

    static class ComposedOfTwo extends Plain {

        @Override
        @TwoLocks
        public Optional<String> run() {
            return super.run();
        }
    }

    @OrderLock("one")
    @DistributedLock("two")
    static class BothOnClass extends Plain {

        @Override
        public Optional<String> run() {
            return super.run();
        }
    }

    @DistributedLock("two")
    static class OtherKindOnClass extends Plain {

        @Override
        @ScheduledLock("one")
        public Optional<String> run() {
            return super.run();
        }
    }

    static class OtherKindOnSuperclass extends SameKindOnClass {

        @Override
        @OrderLock("one")
        public Optional<String> run() {
            return super.run();
        }
    }

    static class OtherKindOverridden extends WithoutInterface {

        @Override
        @ScheduledLock("one")
        public Optional<String> run() {
            return super.run();
        }
    }

    static class OtherKindOfInterface implements Far {

        @Override
        @ScheduledLock("one")
        public Optional<String> run() {
            return lockedKey();
        }
    }

    static class OtherKindOnInterface implements AnnotatedOtherKind {

        @Override
        @DistributedLock("one")
        public Optional<String> run() {
            return lockedKey();
        }
    }

    static class OtherKindOfGenericInterface implements OfGeneric<String> {

        @Override
        @DistributedLock("one")
        public Optional<String> run(String value) {
            return lockedKey();
        }
    }

    static class OfTwoInterfaces implements Far, Other {

        @Override
        public Optional<String> run() {
            return lockedKey();
        }
    }

    static class OnTwoInterfaces implements AnnotatedFar, AnnotatedOther {

        @Override
        public Optional<String> run() {
            return lockedKey();
        }
    }

    static class OfSuperclassAndInterface extends WithoutInterface implements Other {

        @Override
        public Optional<String> run() {
            return super.run();
        }
    }

    static class ImplementedAboveInterface extends WithoutInterface implements Other {}

    interface Generic<T> {

        @DistributedLock("other")
        Optional<String> run(T value);
    }

    interface OfText extends Generic<String> {}

    interface OfArray<T> {

        @DistributedLock("other")
        Optional<String> run(T[] values, T value);
    }

    static class OfValue {

        @DistributedLock("far")
        public Optional<String> run(String value) {
            return lockedKey();
        }
    }

    static class OfValues {

        @DistributedLock("far")
        public Optional<String> run(String[] values, String value) {
            return lockedKey();
        }
    }

    static class OfVariable<T> {

        @DistributedLock("far")
        public Optional<String> run(T value) {
            return lockedKey();
        }
    }

    static class ImplementedAboveGenericInterface extends OfValue implements Generic<String> {}

    static class ImplementedAboveComposedGenericInterface extends OfValue implements OfGeneric<String> {}

    static class ImplementedAboveSubtypeOfGenericInterface extends OfValue implements OfText {}

    static class ImplementedAboveArrayInterface extends OfValues implements OfArray<String> {}

    static class GenericImplementedAboveInterface extends OfVariable<String> implements OfText {}

    /** An overload whose parameters only the erasure of the interface has. */
    static class Overloaded extends Plain implements Generic<Integer> {

        @Override
        public Optional<String> run(Integer value) {
            return lockedKey();
        }

        @DistributedLock("near")
        public Optional<String> run(String value) {
            return lockedKey();
        }
    }

    @OrderLock("order")
    static class OtherKindBelowAnnotatedMethod extends WithoutInterface {}

    @OrderLock("order")
    static class OtherKindBelowAnnotatedClass extends SameKindOnClass {}

    @OrderLock("order")
    static class OtherKindBelowAnnotatedInterface extends AnnotatedNear {}

    interface WithDefault {

        @DistributedLock("far")
        default Optional<String> run() {
            return lockedKey();
        }
    }

    @OrderLock("order")
    static class OtherKindBelowDefaultMethod implements WithDefault {}

    @DistributedLock("other")
    static class AnnotatedBelowAnnotatedClass extends AnnotatedNear {}

    static class Annotated implements Job {

        @Override
        @DistributedLock("near")
        public Optional<String> run() {
            return lockedKey();
        }
    }

    @DistributedLock("far")
    static class SameKindBelowAnnotatedMethod extends Annotated {}

    @DistributedLock("far")
    static class SameKindOnClass extends Plain {

        @Override
        @DistributedLock("near")
        public Optional<String> run() {
            return super.run();
        }
    }

    @OrderLock("far")
    static class SameComposedOnClass extends Plain {

        @Override
        @OrderLock("near")
        public Optional<String> run() {
            return super.run();
        }
    }

    static class SameKindOverridden extends WithoutInterface implements Job {

        @Override
        @DistributedLock("near")
        public Optional<String> run() {
            return super.run();
        }
    }

    static class SameKindOfInterface implements Far {

        @Override
        @DistributedLock("near")
        public Optional<String> run() {
            return lockedKey();
        }
    }

    /** Names the interface of its superclass again. */
    static class NearerSuperclass extends SameKindOfInterface implements Far {

        @Override
        public Optional<String> run() {
            return super.run();
        }
    }

    static class NearerInterface implements Far, Near {

        @Override
        public Optional<String> run() {
            return lockedKey();
        }
    }

    @DistributedLock("near")
    static class AnnotatedNear implements AnnotatedFar {

        @Override
        public Optional<String> run() {
            return lockedKey();
        }
    }

    static class NearerAnnotatedSuperclass extends AnnotatedNear implements AnnotatedFar {

        @Override
        public Optional<String> run() {
            return super.run();
        }
    }

    static class SingleInContainer extends Plain {

        @Override
        @OrderLocks(@OrderLock("near"))
        public Optional<String> run() {
            return super.run();
        }
    }

    static class OfTwoEqualInterfaces implements Far, FarAsWell {

        @Override
        public Optional<String> run() {
            return lockedKey();
        }
    }

    @DistributedLock("far")
    static class PackagePrivateBelowOtherKind {

        @ScheduledLock("near")
        Optional<String> run() {
            return lockedKey();
        }
    }

    static class RepeatedOnPrivate {

        @OrderLocks(@OrderLock("one"))
        private void run() {}

        public void call() {
            run();
        }
    }

    static class RepeatedAtTheBeginning {

        @PostConstruct
        @OrderLocks(@OrderLock("one"))
        public void run() {}
    }
}
