package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.LockSetupException;
import io.syncguard.LockTemplate;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.memory.InMemoryStore;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.SortedAutoConfigurations;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
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

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "syncguard.locks.oder.ttl | only [order, shop.order]. Did you mean 'order'? Correct the name",
                "syncguard.locks[shop.oder].ttl | Did you mean 'shop.order'?",
                "syncguard.locks.payments.ttl | Remove its settings, or give an annotation this name",
            })
    void a_name_that_no_annotation_has_is_a_warning_and_the_nearest_one_is_proposed(String property, String part) {
        locks.withPropertyValues(property + "=9s")
                .withUserConfiguration(Orders.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(log.messages())
                            .singleElement()
                            .asString()
                            .startsWith(property + " is set, but no @DistributedLock has the name ")
                            .contains(part)
                            .endsWith(", unless code requests a lock of this name");
                });
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

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "SYNCGUARD_LOCKS_ORDER_IMPORT_TTL | [order-import].ttl | file, which the variable then overrides",
                "SYNCGUARD_LOCKS_ORDER_IMPORT_WAIT_TIME | [order-import].wait-time | as the annotation has it",
                "SYNCGUARD_LOCKS_SHOP_ORDER_TTL | [shop-order].ttl | as the annotation has it",
                "SYNCGUARD_LOCKS_ORDER_TLL | [shop.order].ttl | is no setting of a lock",
            })
    void an_environment_variable_that_would_not_be_read_fails_the_start(String variable, String json, String rest) {
        locks.withUserConfiguration(Orders.class, Imports.class)
                .withInitializer(context -> variables(context, Map.of(variable, "9s")))
                .run(context -> assertFailed(
                        context, variable, "SPRING_APPLICATION_JSON={\"syncguard.locks" + json + "\":\"9s\"}", rest));
    }

    /** A variable cannot spell the name, so its correction would not help. */
    @ParameterizedTest
    @CsvSource({
        "SYNCGUARD_LOCKS_ORDERIMPORT_TTL, [order-import].ttl",
        "SYNCGUARD_LOCKS_ORDERIMPORT_WAIT_TIME, [order-import].wait-time",
        "SYNCGUARD_LOCKS_SHOPORDER_TTL, [shop.order].ttl",
    })
    void a_warning_of_an_environment_variable_says_how_to_set_the_name(String variable, String json) {
        locks.withUserConfiguration(Orders.class, Imports.class)
                .withInitializer(context -> variables(context, Map.of(variable, "9s")))
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(log.messages())
                            .singleElement()
                            .asString()
                            .contains(variable, "SPRING_APPLICATION_JSON={\"syncguard.locks" + json + "\":\"9s\"}");
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

    @Test
    void lazy_initialization_changes_nothing() {
        locks.withInitializer(LockNamesTests::makeLazy)
                .withPropertyValues("syncguard.locks.order.ttl=9s")
                .withUserConfiguration(Orders.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(log.messages()).isEmpty();
    }

    @Test
    void without_annotations_all_names_are_in_code() {
        locks.withPropertyValues(WRONG).run(context -> assertThat(context).hasNotFailed());
        assertThat(log.messages()).isEmpty();
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
}
