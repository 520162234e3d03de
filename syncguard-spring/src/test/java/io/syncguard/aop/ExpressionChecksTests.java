package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.DistributedLock;
import io.syncguard.LockSetupException;
import io.syncguard.LockTemplate;
import java.lang.reflect.Method;
import java.time.DayOfWeek;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/** The start refuses what exists in no call, and accepts what a call may have. */
class ExpressionChecksTests {

    private static final Order ORDER = new Order("7", new Customer("c", Level.GOLD), List.of(new Line("s", 1)));

    private final DefaultListableBeanFactory beans = beans();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#order.idd | there is no public 'idd' in ORDER, which has [id, customer, lines, label]. Did you mean 'id'? Correct the name 'idd'",
                "#p0.idd | 'idd' in ORDER",
                "#a0?.idd | 'idd' in ORDER",
                "'o:' + #order.idd | 'idd' in ORDER",
                "#order.customer.idd | 'idd' in CUSTOMER",
                "#order.customer.id.foo | 'foo' in java.lang.String",
                "#order.customer().idd | 'idd' in CUSTOMER",
                "#order.lines[0].skuu | 'skuu' in LINE",
                "#order.lines.![skuu] | 'skuu' in LINE",
                "#order.lines.![#this.skuu] | 'skuu' in LINE",
                "#order.lines.?[count > 0].![skuu] | 'skuu' in LINE",
                "#order.lines.^[count > 0].skuu | 'skuu' in LINE",
                "#order.lines.?[cound > 0] | 'cound' in LINE",
                "#order.missing() | no public method 'missing' with 0 arguments in ORDER",
                "#order.id() + #order.id(1) | no public method 'id' with 1 argument in ORDER",
                "#order?.missing() | 'missing'",
                "#text.sizee | 'sizee' in java.lang.String",
                "#text.isEmptyy() | 'isEmptyy'",
                "#uuid.mostSignificant | 'mostSignificant' in java.util.UUID",
                "#number.foo | 'foo' in java.lang.Long",
                "#boxed.foo | 'foo' in java.lang.Long",
                "#day.foo | 'foo' in java.time.DayOfWeek",
                "#orders.![idd] | 'idd' in ORDER",
                "#orders[0].idd | 'idd' in ORDER",
                "#array.sizee | 'sizee' in",
                "#array.![idd] | 'idd' in ORDER",
                "#array[0].idd | 'idd' in ORDER",
                "#map['a'].idd | 'idd' in ORDER",
                "#optional.idd | 'idd' in java.util.Optional. For its value, write .get().idd",
                "#optional.get().idd | 'idd' in ORDER",
                "#open.order.idd | 'idd' in ORDER",
                "#event.body.idd | 'idd' in ORDER",
                "#root.method.nam | 'nam' in java.lang.reflect.Method",
                "{#text, #order.idd} | 'idd' in ORDER",
                "#text == 'a' ? #order.idd : #text | 'idd' in ORDER",
                "#text.concat(#order.idd) | 'idd' in ORDER",
                "T(String).valueOf(#order.idd) | 'idd' in ORDER",
                "T(no.Such).NAME | there is no class 'no.Such'",
                "new no.Such(#text) | there is no class 'no.Such'",
                "@nobean.id | there is no bean 'nobean'",
                "@nobean | there is no bean 'nobean'",
                "@'no.bean'.of(#text) | there is no bean 'no.bean'",
                "&nobean | there is no bean '&nobean'",
                "&tenant | there is no bean '&tenant'",
                "#orders.![@nobean.of(#this)] | there is no bean 'nobean'",
            })
    void what_no_call_can_have_is_refused(String keyAndProblem) {
        String key = keyAndProblem.split(" [|] ")[0];
        String expected = keyAndProblem
                .split(" [|] ")[1]
                .replace("ORDER", Order.class.getName())
                .replace("CUSTOMER", Customer.class.getName())
                .replace("LINE", Line.class.getName());

        assertThatThrownBy(() -> parse(key, ""))
                .isInstanceOf(LockSetupException.class)
                .hasMessageStartingWith("@DistributedLock on " + Shop.class.getName() + ".run, attribute 'key': ")
                .hasMessageContaining(expected);
        assertThatThrownBy(() -> parse("'k'", key)).hasMessageContainingAll("attribute 'condition': ", expected);
        if (!key.contains("?")) {
            assertThatThrownBy(() -> value(key)).isInstanceOf(EvaluationException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#order.id",
                "#order.id()",
                "#order.customer?.id",
                "#order['id']",
                "#order.class.name",
                "#order.label",
                "#order.lines.size()",
                "#order.lines.![sku]",
                "#order.lines.![sku.concat(count)]",
                "#order.lines.![#this.sku + #text]",
                "#order.lines.?[count > 0].![sku]",
                "#order.lines.^[count > 0].sku",
                "#order.lines.$[count > 0].sku",
                "#order.lines[0].sku",
                "#order.customer.level.name",
                "#order.customer.level.name()",
                "#order.customer.level.ordinal",
                "#order.customer.level.discount",
                "#text.length",
                "#text.empty",
                "#text.bytes.length",
                "#text.concat('a').length()",
                "#text.formatted(#number, #boxed)",
                "#text[0]",
                "#uuid.mostSignificantBits",
                "#number.intValue()",
                "#boxed.MAX_VALUE",
                "#day.value",
                "#day.name",
                "#orders.![id]",
                "#orders.![#root.args[0].id]",
                "#orders[0].customer.id",
                "#orders.size()",
                "#array.length",
                "#array.![id].length",
                "#array.![customer][0].id",
                "#array[0].id",
                "#map['a'].id",
                "#map[a].id",
                "#map.![key + value.id]",
                "#map.entrySet().![value.id]",
                "#optional.get().id",
                "#optional.present",
                "#command.id",
                "#command.price",
                "#open.special",
                "#open.special()",
                "#open.order.id",
                "#open.surprise.extra",
                "#event.body.id",
                "#any.id",
                "#lower.![extra]",
                "#type.MAX_VALUE",
                "#type.name",
                "#root.method.name",
                "#root.args.length",
                "#root.targetClass.simpleName",
                "#root.target.name",
                "#this.method.name",
                "method.name",
                "args[0].id",
                "T(java.time.DayOfWeek).MONDAY.value",
                "T(java.time.DayOfWeek).of(1).name",
                "T(java.time.DayOfWeek).simpleName",
                "T(String).valueOf(#number)",
                "T(String[]).simpleName",
                "T(int).name",
                "T(Long).MAX_VALUE",
                "T(java.util.Map.Entry).name",
                "new String('a').length()",
                "new int[2].length",
                "{a: #text}['a']",
                "{1, 2}.![#this]",
                "#text == null ? 'none' : #text.trim()",
                "(#text + 'a').length()",
                "@tenant.length()",
                "@'my.bean'.length()",
                "@alias.length()",
                "@fromParent.length()",
                "@manual.length()",
                "@factory.length()",
                "&factory.objectType",
                "&'factory'.objectType",
            })
    void what_works_in_a_call_is_accepted(String key) {
        assertThat(value(key)).isNotNull();
        assertThatCode(() -> parse(key, "")).doesNotThrowAnyException();
        assertThatCode(() -> parse("'k'", key)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#open.foo",
                "#open.foo()",
                "#any.foo",
                "#map.foo",
                "#orders.foo",
                "#type.foo",
                "#optional?.id",
                "#optional?.![foo]",
                "#root.target.foo",
                "@tenant.foo",
                "@lazy.foo",
                "@abandoned.foo",
                "(#order = #any).foo",
                "#order['idd']",
                "#order.customer.level.foo",
                "#command.foo",
                "'a'.foo",
                "T(java.time.DayOfWeek).FUNDAY"
            })
    void what_only_a_call_can_tell_is_accepted_and_makes_no_bean(String key) {
        assertThatCode(() -> parse(key, "")).doesNotThrowAnyException();
        assertThat(beans.containsSingleton("lazy")).isFalse();
    }

    @Test
    void a_bean_may_be_registered_until_all_beans_exist() {
        LockedMethodParser parser = parser();
        parse(parser, "@late", "");
        beans.registerSingleton("late", "late");

        assertThatCode(parser::requireBeans).doesNotThrowAnyException();
        assertThatThrownBy(() -> parse(parser, "@later", "")).hasMessageContaining("there is no bean 'later'");
    }

    private void parse(String key, String condition) {
        LockedMethodParser parser = parser();
        parse(parser, key, condition);
        parser.requireBeans();
    }

    private LockedMethodParser parser() {
        return new LockedMethodParser(
                beans,
                () -> beans.getBean(LockTemplate.class),
                () -> new CallLimits(Duration.ofSeconds(5), 100, Duration.ofSeconds(30), Map.of()));
    }

    private static void parse(LockedMethodParser parser, String key, String condition) {
        Map<String, Object> attributes = Map.of("key", key, "condition", condition);
        parser.parse(
                AnnotationUtils.synthesizeAnnotation(attributes, DistributedLock.class, null), Shop.RUN, Shop.class);
    }

    /** The value of the expression in a call. */
    private @Nullable Object value(String text) {
        StandardEvaluationContext context =
                new StandardEvaluationContext(new MethodCall(Shop.RUN, Shop.ARGUMENTS, new Shop(), Shop.class));
        context.setBeanResolver(new BeanFactoryResolver(beans));
        for (int i = 0; i < Shop.ARGUMENTS.length; i++) {
            context.setVariable(Shop.RUN.getParameters()[i].getName(), Shop.ARGUMENTS[i]);
            context.setVariable("p" + i, Shop.ARGUMENTS[i]);
        }
        return new SpelExpressionParser().parseRaw(text).getValue(context);
    }

    private static DefaultListableBeanFactory beans() {
        DefaultListableBeanFactory parent = new DefaultListableBeanFactory();
        parent.registerSingleton("fromParent", "parent");
        DefaultListableBeanFactory beans = new DefaultListableBeanFactory(parent);
        beans.registerBeanDefinition("tenant", definition(() -> "acme"));
        beans.registerBeanDefinition("my.bean", definition(() -> "mine"));
        beans.registerBeanDefinition("lazy", definition(() -> {
            throw new IllegalStateException("Made at the start");
        }));
        AbstractBeanDefinition abandoned = definition(Object::new);
        abandoned.setScope("conversation");
        beans.registerBeanDefinition("abandoned", abandoned);
        beans.registerBeanDefinition(
                "factory",
                BeanDefinitionBuilder.genericBeanDefinition(Names.class).getBeanDefinition());
        beans.registerAlias("tenant", "alias");
        beans.registerSingleton("manual", "manual");
        return beans;
    }

    private static AbstractBeanDefinition definition(Supplier<Object> made) {
        return BeanDefinitionBuilder.genericBeanDefinition(Object.class, made).getBeanDefinition();
    }

    public static class Names implements FactoryBean<String> {

        @Override
        public String getObject() {
            return "name";
        }

        @Override
        public Class<?> getObjectType() {
            return String.class;
        }
    }

    public record Order(String id, Customer customer, List<Line> lines) {

        public String getLabel() {
            return "o";
        }
    }

    public record Customer(String id, Level level) {}

    public record Line(String sku, int count) {}

    /** Its constants are subclasses. */
    public enum Level {
        GOLD {
            public int getDiscount() {
                return 10;
            }
        },
        SILVER
    }

    public sealed interface Command permits Buy, Sell {

        default Command getSelf() {
            return this;
        }
    }

    public record Buy(String id, int price) implements Command {}

    public record Sell(String id) implements Command {}

    public record Event<T>(T body) {}

    public static class Open {

        public Order getOrder() {
            return ORDER;
        }

        public boolean isSurprise() {
            return true;
        }
    }

    public static class Special extends Open {

        public String getSpecial() {
            return "s";
        }

        public String special() {
            return "s";
        }

        public Surprise getSurprise() {
            return new Surprise("x");
        }
    }

    public record Surprise(String extra) {}

    static class Shop {

        private static final Method RUN = Arrays.stream(Shop.class.getDeclaredMethods())
                .filter(method -> method.getName().equals("run"))
                .findFirst()
                .orElseThrow();

        private static final Object[] ARGUMENTS = {
            ORDER,
            "text",
            UUID.randomUUID(),
            1L,
            2L,
            DayOfWeek.MONDAY,
            List.of(ORDER),
            new Order[] {ORDER},
            Map.of("a", ORDER),
            Optional.of(ORDER),
            new Buy("b", 1),
            new Special(),
            new Event<>(ORDER),
            ORDER,
            Integer.class,
            List.of(new Surprise("x"))
        };

        public String getName() {
            return "shop";
        }

        void run(
                Order order,
                String text,
                UUID uuid,
                long number,
                Long boxed,
                DayOfWeek day,
                List<Order> orders,
                Order[] array,
                Map<String, Order> map,
                Optional<Order> optional,
                Command command,
                Open open,
                Event<Order> event,
                Object any,
                Class<?> type,
                List<? super Order> lower) {}
    }
}
