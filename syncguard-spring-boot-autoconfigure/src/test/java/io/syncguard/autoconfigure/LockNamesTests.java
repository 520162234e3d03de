package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.LockSetupException;
import io.syncguard.LockTemplate;
import io.syncguard.autoconfigure.profiles.Nightly;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.memory.InMemoryStore;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.SortedAutoConfigurations;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurationPackage;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** Which names may stand under {@code syncguard.locks}: those that something in the application has. */
@Timeout(60)
class LockNamesTests {

    private static final String WRONG = "syncguard.locks.oder.ttl=9s";
    private static final String PROBLEM =
            "syncguard.locks.oder.ttl is set, but no @DistributedLock has the name 'oder'";

    private final ApplicationContextRunner locks = new ApplicationContextRunner()
            .withConfiguration(
                    SortedAutoConfigurations.of(SyncGuardAutoConfiguration.class, AopAutoConfiguration.class))
            .withBean(LockBackend.class, () -> new InMemoryLockBackend(new InMemoryStore()));

    private final CapturedLog log = new CapturedLog();

    @AfterEach
    void closeLog() {
        log.close();
    }

    @Test
    void a_name_that_no_annotation_has_fails_the_start_and_the_nearest_one_is_proposed() {
        locks.withPropertyValues(WRONG)
                .withUserConfiguration(Orders.class)
                .run(context -> assertFailed(context, PROBLEM, "only [order, shop.order]", "Did you mean 'order'?"));
        locks.withPropertyValues("syncguard.locks[shop.oder].ttl=9s")
                .withUserConfiguration(Orders.class)
                .run(context -> assertFailed(context, "syncguard.locks[shop.oder].ttl", "Did you mean 'shop.order'?"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "syncguard.locks.shop.order.ttl=9s | syncguard.locks[shop.order].ttl",
                "syncguard.locks.order/v2.ttl=9s | syncguard.locks[order/v2].ttl",
                "syncguard.locks.my order.ttl=9s | syncguard.locks[my order].ttl",
                "syncguard.locks.bestellung-groß.ttl=9s | syncguard.locks[bestellung-groß].ttl",
                "syncguard.locks.order=9s | syncguard.locks.<name>.<setting>",
                "syncguard.locks[[shop.order]].ttl=9s | in quotes, too",
                "syncguard.locks.order.tll=9s | Did you mean 'ttl'?",
                "syncguard.locks.order.limit=3 | [commit-guard, heartbeat",
                "syncguard.locks.shop.order=9s | syncguard.locks[shop.order].ttl",
            })
    void a_property_that_would_not_be_read_fails_the_start_with_the_right_spelling(String property, String spelling) {
        locks.withPropertyValues(property)
                .withUserConfiguration(Orders.class)
                .run(context -> assertFailed(context, property.split("=")[0] + " is set, but", spelling));
    }

    @ParameterizedTest
    @CsvSource({
        "syncguard.locks.order.ttl=9s, order, 9",
        "syncguard.locks[order].ttl=9s, order, 9",
        "syncguard.locks[shop.order].ttl=9s, shop.order, 9",
        "syncguard.locks[Order V/2].ttl=9s, Order V/2, 9",
        "syncguard.locks.Order.ttl=9s, Order, 9",
        "syncguard.locks.order_v2.ttl=9s, order_v2, 9",
        "syncguard.locks.order-import.ttl=9s, order-import, 9",
    })
    void a_name_is_read_as_it_is_written(String property, String name, long seconds) {
        locks.withPropertyValues(property)
                .run(context -> assertThat(context.getBean(LockTemplate.class)
                                .<LockRequest, RuntimeException>execute(LockRequest.of(name, "1"), LockHandle::request)
                                .ttl())
                        .hasSeconds(seconds));
    }

    @Test
    void the_lock_of_an_election_has_settings_of_its_own() {
        locks.withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(
                                new MapPropertySource("test", Map.of("syncguard.locks[leader:settlement].ttl", "9s"))))
                .run(context -> assertFailed(context, "syncguard.leader.elections.settlement.*"));
    }

    @Test
    void names_that_differ_in_what_spring_boot_ignores_need_brackets() {
        locks.withPropertyValues("syncguard.locks.order-import.ttl=8s", "syncguard.locks.orderImport.ttl=9s")
                .run(context -> assertFailed(context, "syncguard.locks[orderImport].ttl", "[order-import].ttl"));
    }

    @ParameterizedTest
    @CsvSource({
        "SYNCGUARD_LOCKS_ORDER_TTL, order",
        "SYNCGUARD_LOCKS_ORDER_HOLDATMOST, order",
        "SYNCGUARD_LOCKS_ORDER_HOLD_AT_MOST, order",
        "SYNCGUARD_LOCKS_ORDERIMPORT_TTL, order-import",
        "SYNCGUARD_LOCKS_ORDER_IMPORT_TTL, order-import",
    })
    void an_environment_variable_names_a_simple_lock_or_overrides_a_property(String variable, String name) {
        locks.withPropertyValues("syncguard.locks.order-import.wait-time=1s")
                .withUserConfiguration(Orders.class, Imports.class)
                .withInitializer(context -> variables(context, Map.of(variable, "9s")))
                .run(context -> {
                    LockRequest used =
                            context.getBean(LockTemplate.class).execute(LockRequest.of(name, "1"), LockHandle::request);
                    assertThat(used.ttl() == null ? used.holdAtMost() : used.ttl())
                            .hasSeconds(9);
                });
    }

    /** A variable cannot spell the name, so its correction would not help. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "SYNCGUARD_LOCKS_ORDERIMPORT_TTL | [order-import].ttl | file, which the variable then overrides",
                "SYNCGUARD_LOCKS_ORDERIMPORT_WAIT_TIME | [order-import].wait-time | put syncguard.locks.order-import.",
                "SYNCGUARD_LOCKS_ORDER_IMPORT_TTL | [order-import].ttl | file, which the variable then overrides",
                "SYNCGUARD_LOCKS_ORDER_IMPORT_WAIT_TIME | [order-import].wait-time | as the annotation has it",
                "SYNCGUARD_LOCKS_SHOPORDER_TTL | [shop.order].ttl | put syncguard.locks[shop.order].ttl into a file",
                "SYNCGUARD_LOCKS_SHOP_ORDER_TTL | [shop-order].ttl | as the annotation has it",
                "SYNCGUARD_LOCKS_ORDER_TLL | [shop.order].ttl | is no setting of a lock",
            })
    void an_environment_variable_that_would_not_be_read_fails_the_start(String variable, String json, String rest) {
        locks.withUserConfiguration(Orders.class, Imports.class)
                .withInitializer(context -> variables(context, Map.of(variable, "9s")))
                .run(context -> assertFailed(
                        context, variable, "SPRING_APPLICATION_JSON={\"syncguard.locks" + json + "\":\"9s\"}", rest));
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                Injects.class,
                InjectsLater.class,
                LooksUp.class,
                FactoryMethod.class,
                OfSuperclass.class,
                InLambda.class,
                LazyTemplate.class
            })
    void where_code_may_request_the_name_it_is_a_warning(Class<?> code) {
        locks.withPropertyValues(WRONG)
                .withUserConfiguration(Orders.class, code)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(log.messages())
                            .singleElement()
                            .asString()
                            .contains(PROBLEM, "Did you mean 'order'?", "unless code requests");
                });
    }

    @ParameterizedTest
    @ValueSource(classes = {LazyOrders.class, PrototypeOrders.class, ScopedOrders.class, LazyMethod.class})
    void a_bean_that_is_made_later_has_its_names(Class<?> beans) {
        locks.withPropertyValues("syncguard.locks.order.ttl=9s")
                .withUserConfiguration(Stock.class, beans)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(log.messages()).isEmpty();
                    assertThat(context.getBeanFactory().containsSingleton("lockNamesTests.LazyOrders"))
                            .isFalse();
                });
    }

    @ParameterizedTest
    @ValueSource(classes = {LazyInterface.class, LazyRunner.class})
    void a_bean_that_is_made_later_by_a_method_may_have_the_name(Class<?> later) {
        locks.withPropertyValues(WRONG)
                .withUserConfiguration(Stock.class, later)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(log.messages())
                            .singleElement()
                            .asString()
                            .contains(PROBLEM, "unless a bean that is made later");
                });
    }

    @Test
    void lazy_initialization_changes_nothing() {
        locks.withInitializer(LockNamesTests::makeLazy)
                .withPropertyValues("syncguard.locks.order.ttl=9s")
                .withUserConfiguration(Orders.class)
                .run(context -> assertThat(context).hasNotFailed());
        locks.withInitializer(LockNamesTests::makeLazy)
                .withPropertyValues(WRONG)
                .withUserConfiguration(Orders.class)
                .run(context -> assertFailed(context, PROBLEM));
        assertThat(log.messages()).isEmpty();
    }

    @Test
    void a_context_without_locked_beans_may_read_the_settings_of_another_module() {
        locks.withPropertyValues(WRONG).run(context -> assertThat(context).hasNotFailed());
        assertThat(log.messages()).isEmpty();
    }

    @Test
    void a_slice_may_read_the_settings_of_the_application() {
        locks.withPropertyValues(WRONG, "spring.boot.enableautoconfiguration=false")
                .withUserConfiguration(Orders.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(log.messages()).isEmpty();
    }

    @Test
    void the_beans_of_a_test_may_be_a_part_of_those_of_the_application() {
        locks.withPropertyValues(WRONG, "org.springframework.boot.test.context.SpringBootTestContextBootstrapper=true")
                .withUserConfiguration(Orders.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(log.messages()).singleElement().asString().contains(PROBLEM);
    }

    @Test
    void a_child_knows_the_names_of_its_parent_and_its_siblings_may_have_others() {
        locks.withPropertyValues("syncguard.locks.order.ttl=9s")
                .withUserConfiguration(Orders.class)
                .run(parent -> {
                    locks.withParent(parent)
                            .withPropertyValues("syncguard.locks.order.ttl=9s", "syncguard.locks.stock.ttl=9s")
                            .withUserConfiguration(Stock.class)
                            .run(child -> assertThat(child).hasNotFailed());
                    assertThat(log.messages()).isEmpty();
                    locks.withParent(parent)
                            .withPropertyValues(WRONG)
                            .withUserConfiguration(Stock.class)
                            .run(child -> assertThat(child).hasNotFailed());
                    assertThat(log.messages()).singleElement().asString().contains(PROBLEM);
                });
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void a_parent_does_not_know_the_names_of_its_child(CapturedOutput output) {
        try (ConfigurableApplicationContext child = new SpringApplicationBuilder(Orders.class, Application.class)
                .web(WebApplicationType.NONE)
                .child(Imports.class)
                .web(WebApplicationType.NONE)
                .run("--syncguard.locks.order-import.ttl=9s", "--logging.level.io.syncguard=WARN")) {
            assertThat(child.getBean(Imports.class)).isNotNull();
        }
        assertThat(output).contains("WARN", "syncguard.locks.order-import.ttl is set, but");
    }

    /** The name is that of a class in the package of the application, which is no bean in this profile. */
    @Test
    void a_class_of_another_profile_has_its_names() {
        locks.withPropertyValues("syncguard.locks.nightly.ttl=9s")
                .withUserConfiguration(Orders.class, Packages.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(log.messages()).isEmpty();
    }

    private static void assertFailed(AssertableApplicationContext context, String... parts) {
        assertThat(context).hasFailed();
        assertThat(NestedExceptionUtils.getMostSpecificCause(context.getStartupFailure()))
                .isInstanceOf(LockSetupException.class)
                .hasMessageContainingAll(parts);
    }

    private static void variables(ConfigurableApplicationContext context, Map<String, Object> variables) {
        context.getEnvironment()
                .getPropertySources()
                .addFirst(new SystemEnvironmentPropertySource(
                        "test-" + StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, variables));
    }

    private static void makeLazy(ConfigurableApplicationContext context) {
        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor());
    }

    static class Orders {

        @DistributedLock(name = "order", key = "#id")
        public void submit(String id) {}

        @DistributedLock(name = "shop.order", key = "#id")
        public void submitOfShop(String id) {}
    }

    static class Stock {

        @DistributedLock(name = "stock", key = "#id")
        public void take(String id) {}
    }

    static class Imports {

        @DistributedLock("order-import")
        public void run() {}
    }

    static class Injects {
        Injects(LockTemplate template) {}
    }

    static class InjectsLater {
        InjectsLater(ObjectProvider<LockTemplate> template) {}
    }

    static class LooksUp {

        private final ApplicationContext context;

        LooksUp(ApplicationContext context) {
            this.context = context;
        }

        void run() {
            context.getBean(LockTemplate.class).executeWithoutResult("oder", lock -> {});
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class FactoryMethod {

        @Bean
        Supplier<String> orders(LockTemplate template) {
            return () -> "orders";
        }
    }

    static class Base {
        void run(LockTemplate template) {}
    }

    static class OfSuperclass extends Base {}

    static class InLambda {
        Runnable task = new Runnable() {
            @Override
            public void run() {
                LockRequest.of("oder", "1");
            }
        };
    }

    @Lazy
    static class LazyTemplate {
        LazyTemplate(LockTemplate template) {}
    }

    @Lazy
    static class LazyOrders extends Orders {}

    @Scope(BeanDefinition.SCOPE_PROTOTYPE)
    static class PrototypeOrders extends Orders {}

    @Scope(value = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
    static class ScopedOrders extends Orders {}

    @Configuration(proxyBeanMethods = false)
    static class LazyMethod {

        @Lazy
        @Bean
        Orders orders() {
            return new Orders();
        }
    }

    interface Task {
        void run();
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyInterface {

        @Lazy
        @Bean
        Task task() {
            return () -> {};
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyRunner {

        @Lazy
        @Bean
        ApplicationRunner runner() {
            return arguments -> {};
        }
    }

    @Configuration(proxyBeanMethods = false)
    @AutoConfigurationPackage(basePackageClasses = Nightly.class)
    static class Packages {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({SyncGuardAutoConfiguration.class, AopAutoConfiguration.class})
    static class Application {

        @Bean
        LockBackend backend() {
            return new InMemoryLockBackend(new InMemoryStore());
        }
    }
}
