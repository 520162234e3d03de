package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.DistributedLock;
import io.syncguard.LockNotAcquiredException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.data.annotation.Id;
import org.springframework.data.keyvalue.core.KeyValueOperations;
import org.springframework.data.keyvalue.core.KeyValueTemplate;
import org.springframework.data.keyvalue.repository.KeyValueRepository;
import org.springframework.data.map.MapKeyValueAdapter;
import org.springframework.data.map.repository.config.EnableMapRepositories;
import org.springframework.data.repository.NoRepositoryBean;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.support.RestClientAdapter;
import org.springframework.web.service.annotation.GetExchange;
import org.springframework.web.service.invoker.HttpServiceProxyFactory;

/** A fallback that passes the start runs at the call, whatever the bean is made of. */
@Timeout(60)
class DistributedLockFallbackShapesTests {

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    @ParameterizedTest(name = "{0}")
    @MethodSource("shapes")
    void it_runs_at_the_call(
            String shape,
            Class<?> configuration,
            boolean classProxies,
            Function<ApplicationContext, Object> refusedCall) {
        application
                .with(configuration)
                .withPropertyValues("proxy-target-class=" + classProxies)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    application.takenBySomebodyElse("stock:7");

                    assertThat(refusedCall.apply(context)).isEqualTo("instead of 7");
                });
    }

    static Stream<Arguments> shapes() {
        Function<ApplicationContext, Object> stock =
                context -> context.getBean(Stock.class).count("7");
        Function<ApplicationContext, Object> generic =
                context -> genericStock(context).count("7");
        return Stream.of(
                        shape(
                                "a repository",
                                Repositories.class,
                                context ->
                                        context.getBean(StockRepository.class).count("7")),
                        shape(
                                "a base repository",
                                Repositories.class,
                                context ->
                                        context.getBean(StockRepository.class).countBase("7")),
                        shape(
                                "an HTTP client",
                                HttpClient.class,
                                context -> context.getBean(StockClient.class).count("7")),
                        shape("a plain proxy", PlainProxy.class, stock),
                        shape("a proxy of Spring", ProxyOfSpring.class, stock),
                        shape("a lambda", Lambda.class, stock),
                        shape("a default method", WithDefault.class, stock),
                        shape("a private method of the interface", WithPrivateDefault.class, stock),
                        shape("a private method", WithPrivate.class, stock),
                        shape("a private method of a superclass", BelowPrivate.class, stock),
                        shape("a declaration by the interface", DeclaredByInterface.class, stock),
                        shape(
                                "a scoped proxy",
                                Scoped.class,
                                context -> context.getBean("stock", Stock.class).count("7")),
                        shape("a generic interface", OfGenericInterface.class, generic),
                        shape("a generic superclass", OfGenericClass.class, generic),
                        shape("a static method", WithStatic.class, stock))
                .flatMap(shape -> Stream.of(true, false)
                        .map(classProxies ->
                                Arguments.of(shape.get()[0], shape.get()[1], classProxies, shape.get()[2])));
    }

    @Test
    void a_missing_one_of_a_repository_fails_the_start_and_the_interface_is_named() {
        application
                .with(MistakenProxy.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("attribute 'fallback': Mistaken has no method 'none' with the"
                                + " parameters of this method"));
    }

    @Test
    void an_annotated_repository_locks_what_it_inherits() {
        application.with(Repositories.class).run(context -> {
            AnnotatedRepository repository = context.getBean(AnnotatedRepository.class);
            assertThat(repository.existsById("7")).isFalse();

            application.takenBySomebodyElse("stock:7");

            assertThatThrownBy(() -> repository.existsById("7")).isInstanceOf(LockNotAcquiredException.class);
        });
    }

    private static Arguments shape(
            String name, Class<?> configuration, Function<ApplicationContext, Object> refusedCall) {
        return Arguments.of(name, configuration, refusedCall);
    }

    @SuppressWarnings("unchecked")
    private static GenericStock<String> genericStock(ApplicationContext context) {
        return (GenericStock<String>) context.getBean(GenericStock.class);
    }

    interface Stock {

        @DistributedLock(name = "stock", key = "#p0", fallback = "instead")
        String count(String sku);
    }

    interface StockWithDefault extends Stock {

        default String instead(String sku) {
            return "instead of " + sku;
        }
    }

    record Item(@Id String id) {}

    @NoRepositoryBean
    public interface BaseRepository<T, K> extends KeyValueRepository<T, K> {

        @DistributedLock(name = "stock", key = "#p0", fallback = "insteadOfBase")
        Object countBase(K id);

        default Object insteadOfBase(K id) {
            return "instead of " + id;
        }
    }

    public interface StockRepository extends BaseRepository<Item, String> {

        @DistributedLock(name = "stock", key = "#p0", fallback = "instead")
        default String count(String id) {
            return existsById(id) + " " + id;
        }

        default String instead(String id, LockNotAcquiredException refusal) {
            return "instead of " + id;
        }

        @Override
        default Object countBase(String id) {
            return existsById(id);
        }
    }

    @DistributedLock(name = "stock", key = "'7'")
    public interface AnnotatedRepository extends KeyValueRepository<Item, String> {}

    @Configuration(proxyBeanMethods = false)
    @EnableMapRepositories(
            considerNestedRepositories = true,
            basePackageClasses = DistributedLockFallbackShapesTests.class)
    static class Repositories {

        @Bean
        KeyValueOperations mapKeyValueTemplate() {
            return new KeyValueTemplate(new MapKeyValueAdapter());
        }
    }

    public interface StockClient {

        @GetExchange("/stock")
        @DistributedLock(name = "stock", key = "#p0", fallback = "instead")
        String count(String id);

        default String instead(String id) {
            return "instead of " + id;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class HttpClient {

        @Bean
        StockClient client() {
            return HttpServiceProxyFactory.builderFor(RestClientAdapter.create(RestClient.create()))
                    .build()
                    .createClient(StockClient.class);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class PlainProxy {

        @Bean
        StockWithDefault stock() {
            return proxy(StockWithDefault.class);
        }
    }

    /** Like those of other libraries' clients. */
    private static <T> T proxy(Class<T> type) {
        InvocationHandler handler = (proxy, method, arguments) -> method.isDefault()
                ? InvocationHandler.invokeDefault(proxy, method, arguments)
                : method.getDeclaringClass() == Object.class ? method.invoke(type, arguments) : "counted";
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @Configuration(proxyBeanMethods = false)
    static class ProxyOfSpring {

        @Bean
        Stock stock() {
            return (Stock) new ProxyFactory(new WithDefault()).getProxy();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Lambda {

        @Bean
        StockWithDefault stock() {
            return sku -> "counted";
        }
    }

    static class WithDefault implements StockWithDefault {

        @Override
        public String count(String sku) {
            return "counted";
        }
    }

    interface StockWithPrivateDefault extends Stock {

        private String instead(String sku) {
            return "instead of " + sku;
        }

        default String use() {
            return instead("");
        }
    }

    static class WithPrivateDefault implements StockWithPrivateDefault {

        @Override
        public String count(String sku) {
            return "counted";
        }
    }

    static class WithPrivate implements Stock {

        @Override
        public String count(String sku) {
            return "counted";
        }

        private String instead(String sku) {
            return "instead of " + sku;
        }
    }

    static class BelowPrivate extends WithPrivate {}

    @Configuration(proxyBeanMethods = false)
    static class DeclaredByInterface {

        @Bean
        Stock stock() {
            return new WithPrivate();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Scoped {

        @Bean
        @Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.INTERFACES)
        WithPrivate stock() {
            return new WithPrivate();
        }
    }

    interface GenericStock<T> {

        @DistributedLock(name = "stock", key = "#p0", fallback = "instead")
        String count(T sku);
    }

    interface GenericStockWithDefault<T> extends GenericStock<T> {

        default String instead(T sku) {
            return "instead of " + sku;
        }
    }

    static class OfGenericInterface implements GenericStockWithDefault<String> {

        @Override
        public String count(String sku) {
            return "counted";
        }
    }

    static class GenericClass<T> implements GenericStock<T> {

        @Override
        public String count(T sku) {
            return "counted";
        }
    }

    static class OfGenericClass extends GenericClass<String> {

        Optional<String> instead(Object sku) {
            return Optional.empty();
        }

        String instead(String sku) {
            return "instead of " + sku;
        }
    }

    static class WithStatic implements Stock {

        @Override
        public String count(String sku) {
            return "counted";
        }

        static String instead(String sku) {
            return "instead of " + sku;
        }
    }

    interface Mistaken {

        @DistributedLock(name = "stock", fallback = "none")
        String count(String sku);
    }

    @Configuration(proxyBeanMethods = false)
    static class MistakenProxy {

        @Bean
        Mistaken stock() {
            return proxy(Mistaken.class);
        }
    }
}
