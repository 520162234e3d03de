package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;

import io.syncguard.DistributedLock;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.GenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.annotation.AliasFor;
import org.springframework.javapoet.ClassName;
import org.springframework.util.ReflectionUtils;

class LockedMethodAotProcessorTests {

    @Test
    void what_an_expression_reads_of_the_arguments_is_in_the_image() {
        RuntimeHints hints = hintsFor(Orders.class);

        assertCallable(hints, Order.class, "customer");
        assertCallable(hints, Order.class, "shortName");
        assertCallable(hints, Customer.class, "getId");
        assertCallable(hints, Item.class, "sku");
        assertCallable(hints, String.class, "strip");
        assertCallable(hints, MethodCall.class, "getArgs");
    }

    @Test
    void a_fallback_is_in_the_image() {
        assertCallable(hintsFor(Orders.class), Orders.class, "refused");
    }

    @Test
    void arguments_that_no_expression_reads_need_not_be_in_the_image() {
        RuntimeHints hints = hintsFor(Jobs.class);

        assertThat(reflection().onType(Order.class)).rejects(hints);
        assertThat(reflection().onType(MethodCall.class)).rejects(hints);
    }

    @Test
    void an_annotation_of_the_interface_counts() {
        RuntimeHints hints = hintsFor(ReportsOfInterface.class);

        assertCallable(hints, Customer.class, "getId");
        // It has the names of the parameters.
        assertCallable(hints, Reports.class, "write");
    }

    @Test
    void an_own_annotation_that_is_composed_of_ours_counts() {
        assertCallable(hintsFor(Payments.class), Customer.class, "getId");
    }

    /** The made object may have another one, of which the declared type knows nothing. */
    @Test
    void a_fallback_of_a_bean_that_a_factory_makes_is_in_the_image() {
        assertCallable(hintsFor(StockFactory.class), Stock.class, "instead");
    }

    private static void assertCallable(RuntimeHints hints, Class<?> type, String method) {
        var found = List.of(ReflectionUtils.getAllDeclaredMethods(type)).stream()
                .filter(each -> each.getName().equals(method))
                .findFirst()
                .orElseThrow();
        assertThat(reflection().onMethodInvocation(found))
                .as(type.getSimpleName() + "." + method)
                .accepts(hints);
    }

    /** Returns the hints of an application with only this bean. Spring finds the processor itself. */
    private static RuntimeHints hintsFor(Class<?> bean) {
        GenericApplicationContext application = new GenericApplicationContext();
        application.registerBean(bean);
        GenerationContext generation = new DefaultGenerationContext(
                new ClassNameGenerator(ClassName.get("generated", "Application")), new InMemoryGeneratedFiles());
        new ApplicationContextAotGenerator().processAheadOfTime(application, generation);
        return generation.getRuntimeHints();
    }

    public record Order(Customer customer, List<Item> items) {

        public String shortName() {
            return "o";
        }
    }

    public static class Customer {

        public String getId() {
            return "c";
        }
    }

    public record Item(String sku) {}

    static class Orders {

        @DistributedLock(key = "#order.customer.id")
        public void submit(Order order) {}

        @DistributedLock(key = "#id.strip()", fallback = "refused")
        public void cancel(String id) {}

        void refused(String id) {}
    }

    static class Jobs {

        @DistributedLock("job")
        public void run(Order order) {}
    }

    @DistributedLock(name = "payment")
    @Retention(RetentionPolicy.RUNTIME)
    @interface OnePerCustomer {

        @AliasFor(annotation = DistributedLock.class, attribute = "key")
        String value();
    }

    static class Payments {

        @OnePerCustomer("#customer.id")
        public void pay(Customer customer) {}
    }

    interface Reports {

        @DistributedLock(name = "report", key = "#customer.id")
        void write(Customer customer);
    }

    static class ReportsOfInterface implements Reports {

        @Override
        public void write(Customer customer) {}
    }

    interface Stock {

        @DistributedLock(name = "stock", fallback = "instead")
        void count();

        default void instead() {}

        @DistributedLock(name = "stock", fallback = "ofTheClass")
        void other();
    }

    static class StockFactory implements FactoryBean<Stock> {

        @Override
        public Class<?> getObjectType() {
            return Stock.class;
        }

        @Override
        public Stock getObject() {
            throw new UnsupportedOperationException();
        }
    }
}
