package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.testing.BugOf;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.annotation.AliasFor;

/**
 * Where the annotation is found.
 */
@Timeout(60)
class DistributedLockInheritanceTests {

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    @BugOf("alturkovic: an annotation of a class is accepted and ignored")
    @Test
    void an_annotated_class_locks_each_public_method() {
        with(AnnotatedClass.class).run(context -> {
            AnnotatedClass bean = context.getBean(AnnotatedClass.class);

            assertThat(bean.one()).contains("class");
            assertThat(bean.two()).contains("class");
        });
    }

    @Test
    void an_annotated_class_leaves_methods_that_are_not_public_alone() {
        with(AnnotatedClass.class).run(context -> {
            AnnotatedClass bean = context.getBean(AnnotatedClass.class);

            assertThat(bean.packagePrivate()).isEmpty();
            assertThat(bean.forSubclasses()).isEmpty();
        });
    }

    @Test
    void an_annotated_class_leaves_the_methods_of_object_alone() {
        with(AnnotatedClass.class)
                .run(context ->
                        assertThat(context.getBean(AnnotatedClass.class)).hasToString("Optional.empty"));
    }

    @Test
    void an_annotated_method_goes_before_its_annotated_class() {
        with(AnnotatedClass.class)
                .run(context ->
                        assertThat(context.getBean(AnnotatedClass.class).own()).contains("method"));
    }

    @Test
    void a_method_that_is_overridden_below_an_annotated_class_is_locked() {
        with(Subclass.class)
                .run(context ->
                        assertThat(context.getBean(Subclass.class).one()).contains("class"));
    }

    @Test
    void a_method_that_is_inherited_from_an_annotated_class_is_locked() {
        with(Subclass.class)
                .run(context ->
                        assertThat(context.getBean(Subclass.class).two()).contains("class"));
    }

    @Test
    void an_annotated_method_that_is_overridden_is_locked() {
        with(Subclass.class)
                .run(context ->
                        assertThat(context.getBean(Subclass.class).own()).contains("method"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void an_annotated_method_of_an_interface_is_locked(boolean classProxies) {
        with(Implementation.class)
                .withPropertyValues("proxy-target-class=" + classProxies)
                .run(context ->
                        assertThat(context.getBean(Api.class).submit("7")).contains("api:7"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_method_is_locked_by_its_own_annotation_behind_an_interface(boolean classProxies) {
        with(Implementation.class)
                .withPropertyValues("proxy-target-class=" + classProxies)
                .run(context ->
                        assertThat(context.getBean(Api.class).annotatedBelow()).contains("below"));
    }

    @Test
    void a_final_class_is_locked_behind_a_proxy_of_its_interface() {
        with(FinalImplementation.class)
                .withPropertyValues("proxy-target-class=false")
                .run(context ->
                        assertThat(context.getBean(SmallApi.class).submit("7")).contains("small:7"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void an_annotated_default_method_of_an_interface_is_locked(boolean classProxies) {
        with(Implementation.class)
                .withPropertyValues("proxy-target-class=" + classProxies)
                .run(context ->
                        assertThat(context.getBean(Api.class).byDefault()).contains("default"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void an_annotated_method_of_a_generic_interface_is_locked_once(boolean classProxies) {
        with(GenericImplementation.class)
                .withPropertyValues("proxy-target-class=" + classProxies)
                .run(context -> {
                    GenericApi<String> bean = genericApi(context.getBean(GenericApi.class));

                    assertThat(bean.handle("7")).contains("generic:7");
                    assertThat(application.grants("generic:7")).isEqualTo(1);
                });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void an_annotated_interface_locks_its_methods(boolean classProxies) {
        with(ImplementationOfAnnotated.class)
                .withPropertyValues("proxy-target-class=" + classProxies)
                .run(context ->
                        assertThat(context.getBean(AnnotatedApi.class).run()).contains("interface"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void an_annotated_method_of_an_interface_is_locked_when_a_superclass_implements_it(boolean classProxies) {
        with(InheritedImplementation.class)
                .withPropertyValues("proxy-target-class=" + classProxies)
                .run(context ->
                        assertThat(context.getBean(SmallApi.class).submit("7")).contains("small:7"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void the_parameter_names_of_the_interface_are_known(boolean classProxies) {
        with(Implementation.class)
                .withPropertyValues("proxy-target-class=" + classProxies)
                .run(context ->
                        assertThat(context.getBean(Api.class).renamed("7")).contains("renamed:7"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void the_parameter_names_beside_the_annotation_are_known_and_go_before_those_of_the_class(boolean classProxies) {
        with(Renaming.class)
                .withPropertyValues("proxy-target-class=" + classProxies)
                .run(context -> {
                    Renamed<String> bean = renamed(context.getBean(Renamed.class));

                    assertThat(bean.generic("7", "8")).contains("7");
                    assertThat(bean.swapped("7", "8")).contains("7");
                    assertThat(bean.both("7", "8")).contains("7");
                    assertThat(bean.byDefault("7", "8")).contains("7");
                    assertThat(bean.ofParent("7", "8")).contains("7");
                    assertThat(bean.ownAnnotation("7", "8")).contains("7");
                    assertThat(bean.implementedAbove("7", "8")).contains("7");
                    assertThat(bean.ofSuperclass("7", "8")).contains("7");
                });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void the_parameter_names_of_an_annotated_interface_are_known(boolean classProxies) {
        with(RenamingOfAnnotated.class)
                .withPropertyValues("proxy-target-class=" + classProxies)
                .run(context -> assertThat(
                                context.getBean(RenamedOfAnnotated.class).swapped("7", "8"))
                        .contains("7"));
    }

    @Test
    void the_parameter_names_of_a_superclass_are_known() {
        with(RenamingSubclass.class).run(context -> {
            RenamingSubclass bean = context.getBean(RenamingSubclass.class);

            assertThat(bean.submit("7")).contains("7");
            assertThat(bean.packagePrivate("7")).contains("7");
        });
    }

    @Test
    void a_composed_annotation_is_one() {
        with(Composed.class)
                .run(context ->
                        assertThat(context.getBean(Composed.class).plain()).contains("composed"));
    }

    @Test
    void a_composed_annotation_passes_its_aliases_on() {
        with(Composed.class).run(context -> {
            LockRequest request =
                    context.getBean(Composed.class).aliased("7").orElseThrow().request();

            assertThat(request.key()).isEqualTo("composed:7");
            assertThat(request.ttl()).isEqualTo(Duration.ofSeconds(3));
        });
    }

    @Test
    void a_composed_annotation_works_on_a_class() {
        with(ComposedClass.class)
                .run(context ->
                        assertThat(context.getBean(ComposedClass.class).run()).contains("composed"));
    }

    @Test
    void protected_and_package_private_methods_with_the_annotation_are_locked() {
        with(NotPublic.class).run(context -> {
            NotPublic bean = context.getBean(NotPublic.class);

            assertThat(bean.packagePrivate()).contains("package");
            assertThat(bean.forSubclasses()).contains("protected");
        });
    }

    @Test
    void a_bean_that_is_a_proxy_already_is_locked_by_the_annotation_of_its_interface() {
        with(Client.class)
                .run(context ->
                        assertThat(context.getBean(ClientApi.class).call()).contains("client"));
    }

    @Test
    void a_bean_behind_a_scoped_proxy_is_locked() {
        with(ScopedBeans.class)
                .run(context -> assertThat(context.getBean("annotatedClass", AnnotatedClass.class)
                                .one())
                        .contains("class"));
    }

    @Test
    void a_method_of_a_configuration_class_is_locked() {
        with(AnnotatedConfiguration.class)
                .run(context -> assertThat(
                                context.getBean(AnnotatedConfiguration.class).job())
                        .contains("configuration"));
    }

    private ApplicationContextRunner with(Class<?> bean) {
        return application.with(bean);
    }

    @SuppressWarnings("unchecked")
    private static Renamed<String> renamed(Renamed<?> bean) {
        return (Renamed<String>) bean;
    }

    @SuppressWarnings("unchecked")
    private static GenericApi<String> genericApi(GenericApi<?> bean) {
        return (GenericApi<String>) bean;
    }

    private static Optional<String> lockedKey() {
        return LockHandle.current().map(LockHandle::key);
    }

    @DistributedLock(name = "class")
    static class AnnotatedClass {

        public Optional<String> one() {
            return lockedKey();
        }

        public Optional<String> two() {
            return lockedKey();
        }

        @DistributedLock(name = "method")
        public Optional<String> own() {
            return lockedKey();
        }

        Optional<String> packagePrivate() {
            return lockedKey();
        }

        protected Optional<String> forSubclasses() {
            return lockedKey();
        }

        @Override
        public String toString() {
            return lockedKey().toString();
        }
    }

    static class Subclass extends AnnotatedClass {

        @Override
        public Optional<String> one() {
            return lockedKey();
        }

        @Override
        public Optional<String> own() {
            return lockedKey();
        }
    }

    interface Api {

        @DistributedLock(name = "api", key = "#id")
        Optional<String> submit(String id);

        @DistributedLock(name = "renamed", key = "#apiName")
        Optional<String> renamed(String apiName);

        Optional<String> annotatedBelow();

        @DistributedLock(name = "default")
        default Optional<String> byDefault() {
            return lockedKey();
        }
    }

    static class Implementation implements Api {

        @Override
        public Optional<String> submit(String id) {
            return lockedKey();
        }

        @Override
        public Optional<String> renamed(String ownName) {
            return lockedKey();
        }

        @Override
        @DistributedLock(name = "below")
        public Optional<String> annotatedBelow() {
            return lockedKey();
        }
    }

    interface GenericApi<T> {

        @DistributedLock(name = "generic", key = "#value")
        Optional<String> handle(T value);
    }

    static class GenericImplementation implements GenericApi<String> {

        @Override
        public Optional<String> handle(String value) {
            return lockedKey();
        }
    }

    @DistributedLock(name = "interface")
    interface AnnotatedApi {

        Optional<String> run();
    }

    static class ImplementationOfAnnotated implements AnnotatedApi {

        @Override
        public Optional<String> run() {
            return lockedKey();
        }
    }

    interface RenamedParent<T> {

        @DistributedLock(key = "#one")
        Optional<String> ofParent(T one, T two);
    }

    interface Renamed<T> extends RenamedParent<T> {

        @DistributedLock(key = "#one")
        Optional<String> generic(T one, T two);

        @DistributedLock(key = "#one")
        Optional<String> swapped(String one, String two);

        @DistributedLock(key = "#own")
        Optional<String> both(T one, T two);

        @DistributedLock(key = "#one")
        default Optional<String> byDefault(T one, T two) {
            return Optional.empty();
        }

        @DistributedLock(key = "#two")
        Optional<String> ownAnnotation(T one, T two);

        @DistributedLock(key = "#one")
        Optional<String> implementedAbove(T one, T two);

        Optional<String> ofSuperclass(T one, T two);
    }

    abstract static class RenamingSuperclass<T> {

        public Optional<String> implementedAbove(T own, T one) {
            return lockedKey();
        }

        @DistributedLock(key = "#base")
        public Optional<String> ofSuperclass(T base, T other) {
            return lockedKey();
        }
    }

    static class Renaming extends RenamingSuperclass<String> implements Renamed<String> {

        @Override
        public Optional<String> ofParent(String own, String other) {
            return lockedKey();
        }

        @Override
        public Optional<String> generic(String own, String other) {
            return lockedKey();
        }

        @Override
        public Optional<String> swapped(String two, String one) {
            return lockedKey();
        }

        @Override
        public Optional<String> both(String own, String other) {
            return lockedKey();
        }

        @Override
        public Optional<String> byDefault(String own, String other) {
            return lockedKey();
        }

        @Override
        @DistributedLock(key = "#two")
        public Optional<String> ownAnnotation(String two, String one) {
            return lockedKey();
        }

        @Override
        public Optional<String> ofSuperclass(String own, String base) {
            return lockedKey();
        }
    }

    @DistributedLock(key = "#one")
    interface RenamedOfAnnotated {

        Optional<String> swapped(String one, String two);
    }

    static class RenamingOfAnnotated implements RenamedOfAnnotated {

        @Override
        public Optional<String> swapped(String two, String one) {
            return lockedKey();
        }
    }

    abstract static class RenamedSuperclass<T> {

        @DistributedLock(key = "#one")
        public abstract Optional<String> submit(T one);

        @DistributedLock(key = "#one")
        abstract Optional<String> packagePrivate(T one);
    }

    static class RenamingSubclass extends RenamedSuperclass<String> {

        @Override
        public Optional<String> submit(String own) {
            return lockedKey();
        }

        @Override
        Optional<String> packagePrivate(String own) {
            return lockedKey();
        }
    }

    interface SmallApi {

        @DistributedLock(name = "small", key = "#id")
        Optional<String> submit(String id);
    }

    static class KnowsNothing {

        public Optional<String> submit(String id) {
            return lockedKey();
        }
    }

    static final class FinalImplementation implements SmallApi {

        @Override
        public Optional<String> submit(String number) {
            return lockedKey();
        }
    }

    static class InheritedImplementation extends KnowsNothing implements SmallApi {}

    @Target({ElementType.METHOD, ElementType.TYPE})
    @Retention(RetentionPolicy.RUNTIME)
    @DistributedLock(name = "composed")
    @interface ComposedLock {

        @AliasFor(annotation = DistributedLock.class, attribute = "key")
        String value() default "";

        @AliasFor(annotation = DistributedLock.class)
        String ttl() default "1s";
    }

    static class Composed {

        @ComposedLock
        public Optional<String> plain() {
            return lockedKey();
        }

        @ComposedLock(value = "#id", ttl = "3s")
        public Optional<LockHandle> aliased(String id) {
            return LockHandle.current();
        }
    }

    @ComposedLock
    static class ComposedClass {

        public Optional<String> run() {
            return lockedKey();
        }
    }

    static class NotPublic {

        @DistributedLock(name = "package")
        Optional<String> packagePrivate() {
            return lockedKey();
        }

        @DistributedLock(name = "protected")
        protected Optional<String> forSubclasses() {
            return lockedKey();
        }
    }

    interface ClientApi {

        @DistributedLock(name = "client")
        Optional<String> call();
    }

    /** Makes proxies like those of HTTP clients and repositories. */
    static class Client implements FactoryBean<ClientApi> {

        @Override
        public ClientApi getObject() {
            return (ClientApi) Proxy.newProxyInstance(
                    ClientApi.class.getClassLoader(),
                    new Class<?>[] {ClientApi.class},
                    (proxy, method, args) -> lockedKey());
        }

        @Override
        public Class<?> getObjectType() {
            return ClientApi.class;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ScopedBeans {

        @Bean
        @Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
        AnnotatedClass annotatedClass() {
            return new AnnotatedClass();
        }
    }

    @Configuration
    static class AnnotatedConfiguration {

        @DistributedLock(name = "configuration")
        public Optional<String> job() {
            return lockedKey();
        }
    }
}
