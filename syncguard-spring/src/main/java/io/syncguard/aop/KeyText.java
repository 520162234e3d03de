package io.syncguard.aop;

import static java.util.stream.Collectors.joining;

import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Collection;
import java.util.Date;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ObjectUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Checks the text that a value has in a key. The same data must have the same text in all processes, so a text is
 * refused that depends on the identity of an object, on the process or on an arbitrary order.
 */
final class KeyText {

    /** Maximum depth to which containers and records are inspected. */
    private static final int DEPTH = 4;

    /** Maximum number of parts of a value that are compared to a text that looks like an identity. */
    private static final int PARTS = 100;

    /** Maximum number of all parts of an argument that are compared: a client may have sent it. */
    private static final int ALL_PARTS = 1_000;

    private static final Set<String> TEXTS_OF_NOTHING = Set.of("[]", "{}", "null", "\"\"");

    private KeyText() {}

    /** Returns the value of an optional, {@code null} if it is empty, and any other value unchanged. */
    static @Nullable Object withoutOptional(@Nullable Object value) {
        if (value instanceof Optional<?> optional) {
            return withoutOptional(optional.orElse(null));
        }
        if (value instanceof OptionalInt optional) {
            return optional.isPresent() ? optional.getAsInt() : null;
        }
        if (value instanceof OptionalLong optional) {
            return optional.isPresent() ? optional.getAsLong() : null;
        }
        if (value instanceof OptionalDouble optional) {
            return optional.isPresent() ? optional.getAsDouble() : null;
        }
        return value;
    }

    /** The elements of a collection or array, each of which is a key; {@code null} for any other value. */
    static @Nullable List<@Nullable Object> elements(@Nullable Object value) {
        if (value instanceof Collection<?> values) {
            return Arrays.asList(values.toArray());
        }
        boolean single = value instanceof byte[] || value instanceof char[];
        return ObjectUtils.isArray(value) && !single ? Arrays.asList(ObjectUtils.toObjectArray(value)) : null;
    }

    /** Whether the value has no data: calls with nothing would share one key, such as {@code []}. */
    static boolean isNothing(@Nullable Object value) {
        return isNothing(value, DEPTH);
    }

    private static boolean isNothing(@Nullable Object wrapped, int depth) {
        Object value = withoutOptional(wrapped);
        if (value == null || value instanceof CharSequence text && isBlank(text.toString())) {
            return true;
        }
        if (value instanceof CharSequence || depth < 0) {
            return false;
        }
        if (value instanceof AtomicReference<?> reference) {
            return isNothing(reference.get(), depth - 1);
        }
        if (value instanceof byte[] || value instanceof char[]) {
            return ObjectUtils.isEmpty(value);
        }
        List<@Nullable Object> elements = elements(value);
        return elements == null
                ? ObjectUtils.isEmpty(value) || hasTextOfNothing(value)
                : elements.stream().allMatch(each -> isNothing(each, depth - 1));
    }

    /** The text of an empty JSON node, page or AtomicIntegerArray. Reading an iterable may have an effect. */
    private static boolean hasTextOfNothing(Object value) {
        String text = value.toString();
        return text == null || isBlank(text) || TEXTS_OF_NOTHING.contains(text);
    }

    /** Also the blanks of Unicode that do not separate words, and characters without width. */
    static boolean isBlank(String text) {
        return text.codePoints()
                .allMatch(each -> Character.isWhitespace(each)
                        || Character.isSpaceChar(each)
                        || Character.isISOControl(each)
                        || Character.getType(each) == Character.FORMAT);
    }

    /** The value, or the part of it, that makes its text unfit for a key; {@code null} if it is fit. */
    static @Nullable UnfitValue unfit(@Nullable Object value) {
        return unfit(value, DEPTH);
    }

    /** Like {@link #unfit(Object)} for a value that SpEL joins to a text. SpEL joins the elements of an array. */
    static @Nullable UnfitValue unfitOperand(Object value) {
        return value.getClass().isArray() ? unfit(Arrays.asList(ObjectUtils.toObjectArray(value))) : unfit(value);
    }

    /** Returns the argument, or the part of one, whose identity the text contains. */
    static @Nullable UnfitValue printedIn(String text, @Nullable Object[] arguments) {
        return text.indexOf('@') < 0
                ? null
                : Arrays.stream(arguments)
                        .flatMap(argument -> withParts(argument, DEPTH).limit(ALL_PARTS))
                        .filter(part -> text.contains("@" + ObjectUtils.getIdentityHexString(part)))
                        .map(UnfitValue::withoutText)
                        .findFirst()
                        .orElse(null);
    }

    private static @Nullable UnfitValue unfit(@Nullable Object value, int depth) {
        if (value == null || value instanceof CharSequence || value instanceof Number || depth == 0) {
            return null;
        }
        if (dependsOnTimeZone(value)) {
            return new UnfitValue(
                    value,
                    "whose text depends on the time zone of the process. Use its milliseconds, such as"
                            + (value instanceof Date ? " #date.time" : " #calendar.timeInMillis"));
        }
        if (value instanceof Map && !(value instanceof SortedMap)) {
            return new UnfitValue(
                    value,
                    "whose text depends on the order of its entries. Use one of its values, or a java.util.TreeMap");
        }
        if (value instanceof Set && !(value instanceof SortedSet || value instanceof EnumSet)) {
            return new UnfitValue(value, "whose text depends on the order of its elements. Use a java.util.TreeSet");
        }
        if (ReactiveAdapterRegistry.getSharedInstance().getAdapter(value.getClass()) != null) {
            return new UnfitValue(value, "whose value comes later. Call the method when it is there");
        }
        if (value instanceof Thread) {
            return new UnfitValue(value, "whose text differs in each process. Use its name: #thread.name");
        }
        if (hasTextOfObject(value)) {
            return UnfitValue.withoutText(value);
        }
        boolean printsItself = value instanceof Record record && !isGenerated(record);
        return printsItself ? null : unfitPart(value, depth - 1);
    }

    private static @Nullable UnfitValue unfitPart(Object value, int depth) {
        int number = 0;
        for (Object part : (Iterable<@Nullable Object>) parts(value)::iterator) {
            UnfitValue unfit = unfit(withoutOptional(part), depth);
            if (unfit != null) {
                return unfit.within(name(value, number));
            }
            number++;
        }
        return null;
    }

    /** The name of a part for messages. */
    private static String name(Object value, int number) {
        if (value instanceof Record) {
            return "'" + value.getClass().getRecordComponents()[number].getName() + "'";
        }
        if (value instanceof Map.Entry) {
            return number == 0 ? "the key" : "the value";
        }
        if (value instanceof Map<?, ?> map) {
            return (number < map.size() ? "the key" : "the value") + " of entry " + (number % map.size() + 1);
        }
        return "element " + (number + 1);
    }

    /** SQL dates and times have no zone, so their text is the stored value. */
    private static boolean dependsOnTimeZone(Object value) {
        return value instanceof Calendar
                || value instanceof Date
                        && !Set.of("java.sql.Date", "java.sql.Time").contains(nameOf(value));
    }

    /**
     * Whether the text is that of {@link Object#toString()}. A hashCode() of its own does not help: that of an enum
     * constant, for instance, differs in each process.
     */
    private static boolean hasTextOfObject(Object value) {
        String text = Objects.toString(value.toString(), "");
        String start = nameOf(value) + "@";
        return text.startsWith(start) && text.equals(start + Integer.toHexString(value.hashCode()));
    }

    private static String nameOf(Object value) {
        return value.getClass().getName();
    }

    private static Stream<Object> withParts(@Nullable Object wrapped, int depth) {
        Object value = withoutOptional(wrapped);
        if (value == null || value instanceof CharSequence || value instanceof Number) {
            return Stream.empty();
        }
        // Reading a collection from outside the JDK may have side effects: a Hibernate collection queries the database.
        boolean mayBeRead = value instanceof Record || value.getClass().getClassLoader() == null;
        return depth == 0 || !mayBeRead
                ? Stream.of(value)
                : Stream.concat(
                        Stream.of(value), readableParts(value).stream().flatMap(part -> withParts(part, depth - 1)));
    }

    /**
     * Returns no parts if they cannot be read: a JDK collection may wrap a Hibernate collection whose session is
     * closed.
     */
    private static List<@Nullable Object> readableParts(Object value) {
        try {
            return parts(value).limit(PARTS).toList();
        } catch (RuntimeException ex) {
            return List.of();
        }
    }

    /** The parts that appear in the text of the value. */
    private static Stream<@Nullable Object> parts(Object value) {
        if (value instanceof Map<?, ?> map) {
            return Stream.concat(map.keySet().stream(), map.values().stream());
        }
        if (value instanceof Map.Entry<?, ?> entry) {
            return Stream.of(entry.getKey(), entry.getValue());
        }
        if (value instanceof Collection<?> values) {
            return values.stream().map(part -> part);
        }
        if (value instanceof Object[] values) {
            return Arrays.stream(values);
        }
        return value instanceof Record record
                ? Arrays.stream(record.getClass().getRecordComponents()).map(component -> valueOf(component, record))
                : Stream.empty();
    }

    private static @Nullable Object valueOf(RecordComponent component, Record record) {
        try {
            ReflectionUtils.makeAccessible(component.getAccessor());
            return component.getAccessor().invoke(record);
        } catch (ReflectiveOperationException | RuntimeException ex) {
            return null;
        }
    }

    /** Whether the text is that of a record without its own toString(). */
    private static boolean isGenerated(Record record) {
        return record.toString()
                .equals(Arrays.stream(record.getClass().getRecordComponents())
                        .map(component -> component.getName() + "=" + valueOf(component, record))
                        .collect(joining(", ", record.getClass().getSimpleName() + "[", "]")));
    }
}
