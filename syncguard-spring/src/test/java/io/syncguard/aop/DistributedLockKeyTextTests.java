package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.argumentSet;

import io.syncguard.DistributedLock;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.util.AbstractList;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Collections;
import java.util.Date;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The text of a key is the same for all callers with the same data, or the call is refused. */
@Timeout(60)
class DistributedLockKeyTextTests {

    private static final Instant NOON = Instant.parse("2026-03-01T12:00:00Z");

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    private final ApplicationContextRunner runner = application.with(Keyed.class, Grants.class);

    @ParameterizedTest
    @MethodSource("unfit")
    void a_value_whose_text_is_not_that_of_its_data_is_refused_wherever_it_stands(Object value, String... parts) {
        Stream.<Function<Keyed, String>>of(
                        keyed -> keyed.joined(value), keyed -> keyed.joinedInFront(value), keyed -> keyed.alone(value))
                .forEach(call -> assertRefused(call, parts));
    }

    static Stream<Arguments> unfit() {
        String noText = "which has no toString()";
        return Stream.of(
                argumentSet("object", new Order(42), parts(Order.class.getName(), noText, "Use a property: #value.id")),
                argumentSet("own hash code", new Hashed(DayOfWeek.MONDAY), parts(Hashed.class.getName(), noText)),
                argumentSet("lambda", (Supplier<String>) () -> "", parts("Lambda", noText)),
                argumentSet("stream", Stream.of("a"), parts("java.util.stream", noText)),
                argumentSet("iterator", List.of("a").iterator(), parts("java.util", noText)),
                argumentSet("optional", Optional.of(new Order(42)), parts(Order.class.getName(), noText)),
                argumentSet("record", new Line(new Order(42)), parts(Order.class.getName(), noText)),
                argumentSet("optional in a record", new Line(Optional.of(new Order(42))), parts(noText)),
                argumentSet("array in a record", new Line(new String[] {"a"}), parts("String[]", noText, "Arrays")),
                argumentSet("bytes in a record", new Line(new byte[] {1}), parts("byte[]", noText, "HexFormat")),
                argumentSet("list", List.of(new Order(42)), parts(Order.class.getName(), noText)),
                argumentSet("nested lists", List.of(List.of(new Order(42))), parts(Order.class.getName(), noText)),
                argumentSet("arrays in a list", List.of(new int[][] {{1}}), parts("int[]", noText)),
                argumentSet("own text", new Printing(new Order(42)), parts(Order.class.getName())),
                argumentSet("proxy", proxyOf(new Order(42)), parts(Order.class.getName())),
                argumentSet("map", new HashMap<>(Map.of("a", 1)), parts("java.util.HashMap", "order", "TreeMap")),
                argumentSet("map in a record", new Line(Map.of("a", 1)), parts("order", "TreeMap")),
                argumentSet("map in a list", List.of(Map.of("a", 1)), parts("order", "TreeMap")),
                argumentSet("objects in a map", new TreeMap<>(Map.of("a", new Order(1))), parts(noText)),
                argumentSet("sets in a list", List.of(new HashSet<>(Set.of("a"))), parts("HashSet", "TreeSet")),
                argumentSet("date", Date.from(NOON), parts("java.util.Date", "time zone", "#date.time")),
                argumentSet("timestamp", Timestamp.from(NOON), parts("java.sql.Timestamp", "time zone")),
                argumentSet("calendar", Calendar.getInstance(), parts("Calendar", "timeInMillis")),
                argumentSet("thread", Thread.currentThread(), parts("Thread", "#thread.name")));
    }

    @Test
    void a_set_within_a_text_is_refused_because_its_order_is_that_of_the_process() {
        assertRefused(keyed -> keyed.joined(Set.of("a", "b")), "order", "TreeSet");
    }

    @Test
    void an_array_of_bytes_or_letters_is_no_collection_of_keys() {
        assertRefused(keyed -> keyed.alone(new byte[] {1, 2}), "byte[]", "HexFormat");
        assertRefused(keyed -> keyed.alone(new char[] {'a'}), "char[]", "T(String).valueOf");
    }

    @Test
    void an_identity_in_a_text_that_the_expression_made_is_refused() {
        assertRefused(keyed -> keyed.formatted(new Order(42)), Order.class.getName(), "toString()");
        assertRefused(keyed -> keyed.called(new Order(42)), Order.class.getName(), "toString()");
        assertRefused(keyed -> keyed.concatenated(new Order(42)), Order.class.getName(), "toString()");
        assertRefused(keyed -> keyed.made(new Order(42)), Order.class.getName(), "toString()");
        assertRefused(keyed -> keyed.shortened(new Order(42)), Order.class.getName(), "toString()");
    }

    @Test
    void the_message_names_the_method_the_expression_and_the_element() {
        assertRefused(
                keyed -> keyed.alone(List.of("a", new Order(42))),
                "element 2",
                "Keyed.alone",
                "#value",
                Order.class.getName());
        assertRefused(keyed -> keyed.joined(new Order(42)), "'order:' + #value", "Keyed.joined");
    }

    @ParameterizedTest
    @MethodSource("elements")
    void the_element_is_named(String part, Function<Keyed, String> call, String... more) {
        assertRefused(
                call, Stream.concat(Stream.of(", " + part), Stream.of(more)).toArray(String[]::new));
    }

    static Stream<Arguments> elements() {
        String order = "a " + Order.class.getName() + ", which has no toString()";
        Order bad = new Order(42);
        return Stream.of(
                element("element 2 is " + order, keyed -> keyed.alone(List.of("a", bad)), "property: #value.![id]"),
                element("element 2 is " + order, keyed -> keyed.alone(new Object[] {"a", bad}), "#value.![id]"),
                element("element 2 is " + order, keyed -> keyed.alone(List.of("a", Optional.of(bad))), "its id"),
                element("element 2 is " + order, keyed -> keyed.alone(Optional.of(List.of("a", bad)))),
                element("element 1 of element 2 is " + order, keyed -> keyed.alone(List.of("a", List.of(bad)))),
                element("'part' of element 2 is " + order, keyed -> keyed.alone(List.of("a", new Line(bad)))),
                element("'part' is " + order, keyed -> keyed.alone(new Line(bad)), "its id"),
                element(
                        "the value of entry 2 is " + order,
                        keyed -> keyed.alone(new TreeMap<>(Map.of("a", "b", "c", bad)))),
                element("the value of element 1 is " + order, keyed -> keyed.entries(Map.of("a", bad))),
                element("element 2 is a java.util.Date", keyed -> keyed.alone(List.of("a", Date.from(NOON)))),
                element("element 2 is null", keyed -> keyed.alone(Arrays.asList("a", null))),
                element("element 2 is blank", keyed -> keyed.alone(List.of("a", " "))),
                element("element 2 cannot be used", keyed -> keyed.alone(List.of("a", "k".repeat(513))), "512"),
                element("element 2 cannot be used", keyed -> keyed.alone(List.of("a", "\ud83d")), "surrogate"),
                element("element 2 cannot be used", keyed -> keyed.alone(List.of("a", new Printing(bad)))),
                element("element 2 contains " + order, keyed -> keyed.prefixed(List.of("a", bad)), "#orders.![id]"),
                element("element 1 is " + order, keyed -> keyed.joined(List.of(bad))),
                element("element 2 contains " + order, keyed -> keyed.both("a", bad), "#two.id"),
                element("element 2 is null", keyed -> keyed.both("a", null), "Keyed.both"));
    }

    @Test
    void the_message_has_an_expression_for_a_property_that_exists() {
        assertRefused(keyed -> keyed.alone(new Numbered()), "toString(). Use a property: #value.number");
        assertRefused(keyed -> keyed.alone(new Priced()), "toString(). Use a property: #value.cents");
        assertRefused(keyed -> keyed.alone(Optional.of(new Numbered())), "Use a property: #value.get().number");
        assertRefused(keyed -> keyed.alone(new Object()), "toString(). Give it one, or use what identifies it");
        assertRefused(keyed -> keyed.joined(new Numbered()), "Use a property: #value.number");
    }

    @Test
    void an_expression_without_a_value_is_refused() {
        assertRefused(keyed -> keyed.numbers(Arrays.asList(new Order(1), null)), "no value for this call");
        assertRefused(keyed -> keyed.numbers(null), "no value for this call");
    }

    private static Arguments element(String part, Function<Keyed, String> call, String... more) {
        return argumentSet(part, part, call, more);
    }

    @Test
    void an_optional_is_the_value_that_it_has() {
        assertKeys(keyed -> keyed.alone(Optional.of("a")), "a");
        assertKeys(keyed -> keyed.joined(Optional.of(7)), "order:7");
        assertKeys(keyed -> keyed.alone(OptionalLong.of(7)), "7");
        assertKeys(keyed -> keyed.alone(List.of(Optional.of("a"), "b")), "a", "b");
        assertKeys(keyed -> keyed.alone(Optional.of(List.of("a", "b"))), "a", "b");
    }

    @Test
    void an_empty_optional_is_refused_as_null_is() {
        assertRefused(keyed -> keyed.alone(Optional.empty()), "null");
        assertRefused(keyed -> keyed.alone(List.of("a", Optional.empty())), "element 2", "null");
    }

    @Test
    void a_text_that_is_null_is_refused_as_a_blank_one_is() {
        Object silent = new Object() {
            @Override
            @SuppressWarnings("NullAway")
            public String toString() {
                return null;
            }
        };

        assertRefused(keyed -> keyed.alone(silent), "blank");
    }

    @Test
    void an_argument_that_cannot_be_read_changes_nothing_for_a_key_without_it() {
        List<Object> closed = new AbstractList<>() {
            @Override
            public Object get(int index) {
                throw new IllegalStateException("The session is closed");
            }

            @Override
            public int size() {
                throw new IllegalStateException("The session is closed");
            }
        };

        assertKeys(keyed -> keyed.beside("bob@cafe", Collections.unmodifiableList(closed)), "bob@cafe");
        assertKeys(keyed -> keyed.beside("bob@cafe", new Line(Collections.unmodifiableList(closed))), "bob@cafe");
    }

    @Test
    void texts_of_data_are_keys() {
        assertKeys(keyed -> keyed.joined("bob@cafe"), "order:bob@cafe");
        assertKeys(keyed -> keyed.alone("john.smith@beef.org"), "john.smith@beef.org");
        assertKeys(keyed -> keyed.alone("John.Smith@ab"), "John.Smith@ab");
        assertKeys(keyed -> keyed.joined(null), "order:null");
        assertKeys(keyed -> keyed.joined(new BigDecimal("1.10")), "order:1.10");
        assertKeys(keyed -> keyed.joined(1.5), "order:1.5");
        assertKeys(keyed -> keyed.joined(new StringBuilder("a")), "order:a");
        assertKeys(keyed -> keyed.joined(LocalDate.EPOCH), "order:1970-01-01");
        assertKeys(keyed -> keyed.joined(java.sql.Date.valueOf("1970-01-01")), "order:1970-01-01");
        assertKeys(keyed -> keyed.joined(NOON), "order:2026-03-01T12:00:00Z");
        assertKeys(keyed -> keyed.joined(String.class), "order:class java.lang.String");
        assertKeys(keyed -> keyed.joined(Path.of("a", "b")), "order:a/b");
        assertKeys(keyed -> keyed.joined(new Line("a")), "order:Line[part=a]");
        assertKeys(keyed -> keyed.joined(new Named(new Order(42))), "order:named");
        assertKeys(keyed -> keyed.joined(List.of(1, 2)), "order:1,2");
        assertKeys(keyed -> keyed.joined(new int[] {1, 2}), "order:1,2");
        assertKeys(keyed -> keyed.joined(new TreeSet<>(Set.of("b", "a"))), "order:a,b");
        assertKeys(keyed -> keyed.joined(EnumSet.of(DayOfWeek.MONDAY)), "order:MONDAY");
        assertKeys(keyed -> keyed.alone(new TreeMap<>(Map.of("b", 1, "a", 2))), "{a=2, b=1}");
        assertKeys(keyed -> keyed.alone(List.of(List.of("a", "b"))), "[a, b]");
    }

    private void assertKeys(Function<Keyed, String> call, String... keys) {
        runner.run(context -> {
            call.apply(context.getBean(Keyed.class));

            assertThat(context.getBean(Grants.class).keys).containsExactly(keys);
        });
    }

    private void assertRefused(Function<Keyed, String> call, String... parts) {
        runner.run(context -> {
            assertThatThrownBy(() -> call.apply(context.getBean(Keyed.class)))
                    .isInstanceOfSatisfying(
                            LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                    .hasMessageContaining("Keyed.")
                    .hasMessageContainingAll(parts);
            assertThat(context.getBean(Grants.class).keys).isEmpty();
        });
    }

    private static String[] parts(String... parts) {
        return parts;
    }

    private static Object proxyOf(Object target) {
        return Proxy.newProxyInstance(
                DistributedLockKeyTextTests.class.getClassLoader(),
                new Class<?>[] {Runnable.class},
                (proxy, method, arguments) -> method.invoke(target, arguments));
    }

    record Line(Object part) {}

    record Named(Object part) {

        @Override
        public String toString() {
            return "named";
        }
    }

    static class Order {

        private final int id;

        Order(int id) {
            this.id = id;
        }

        public int getId() {
            return id;
        }
    }

    static class Numbered {

        public final int number = 1;
        public final String other = "";
    }

    static class Priced {

        public List<String> getLines() {
            return List.of();
        }

        public long getCents() {
            return 1;
        }
    }

    static class Hashed {

        private final DayOfWeek day;

        Hashed(DayOfWeek day) {
            this.day = day;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Hashed hashed && hashed.day == day;
        }

        @Override
        public int hashCode() {
            return day.hashCode();
        }
    }

    static class Printing {

        private final Object part;

        Printing(Object part) {
            this.part = part;
        }

        @Override
        public String toString() {
            return "Printing(part=" + part + ")";
        }
    }

    static class Keyed {

        @DistributedLock(key = "'order:' + #value")
        public String joined(@Nullable Object value) {
            return key();
        }

        @DistributedLock(key = "#value.entrySet()")
        public String entries(Map<String, ?> value) {
            return key();
        }

        @DistributedLock(key = "#orders.!['order:' + #this]")
        public String prefixed(List<?> orders) {
            return key();
        }

        @DistributedLock(key = "{#one, #two == null ? null : 'order:' + #two}")
        public String both(String one, @Nullable Object two) {
            return key();
        }

        @DistributedLock(key = "#orders.![id]")
        public String numbers(@Nullable List<@Nullable Order> orders) {
            return key();
        }

        @DistributedLock(key = "#value + ':order'")
        public String joinedInFront(Object value) {
            return key();
        }

        @DistributedLock(key = "#value")
        public String alone(Object value) {
            return key();
        }

        @DistributedLock(key = "#email")
        public String beside(String email, Object other) {
            return key();
        }

        @DistributedLock(key = "T(String).format('%s', #order)")
        public String formatted(Order order) {
            return key();
        }

        @DistributedLock(key = "#order.toString()")
        public String called(Order order) {
            return key();
        }

        @DistributedLock(key = "'order:'.concat(#order)")
        public String concatenated(Order order) {
            return key();
        }

        @DistributedLock(key = "#root.target.make(#id)")
        public String made(Order id) {
            return key();
        }

        @DistributedLock(key = "#root.target.shorten(#order)")
        public String shortened(Order order) {
            return key();
        }

        public String make(Order like) {
            return "order_" + new Order(like.getId()) + "_lines";
        }

        public String shorten(Order order) {
            return "Order@" + Integer.toHexString(System.identityHashCode(order));
        }

        private static String key() {
            return LockHandle.current().map(LockHandle::key).orElse("");
        }
    }
}
