package io.syncguard.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.util.ClassUtils;

/**
 * A value whose text differs between callers with the same data.
 *
 * @param value the value itself
 * @param path its place within the value of the expression, for messages; empty if it is that value
 * @param why its text is unfit, and what to use in its place; {@code null} if it has no text of its own
 */
record UnfitValue(Object value, String path, @Nullable String why) {

    /** Names that usually identify an object, the best one first. */
    private static final List<String> IDENTIFIERS = List.of("id", "key", "number", "code", "uuid", "name");

    UnfitValue(Object value, String why) {
        this(value, "", why);
    }

    static UnfitValue withoutText(Object value) {
        return new UnfitValue(value, "", null);
    }

    /** Returns this value as a part of another one. */
    UnfitValue within(String part) {
        return new UnfitValue(value, join(path, part), why);
    }

    /** Joins the names of a part and of the whole that contains it. */
    static String join(String part, String whole) {
        return part.isEmpty() || whole.isEmpty() ? part + whole : part + " of " + whole;
    }

    /**
     * @param reference an expression for a property of the value, with {@code %s} for its name; {@code null} if unknown
     */
    String description(@Nullable String reference) {
        return "a " + value.getClass().getTypeName() + ", "
                + (why == null ? "which has no toString(). " + advice(reference) : why);
    }

    private String advice(@Nullable String reference) {
        String itself = reference != null && reference.endsWith(".%s") ? reference.replace(".%s", "") : "...";
        if (value instanceof byte[]) {
            return "Use T(java.util.HexFormat).of().formatHex(" + itself + ")";
        }
        if (value instanceof char[]) {
            return "Use T(String).valueOf(" + itself + ")";
        }
        if (value.getClass().isArray()) {
            return "Use T(java.util.Arrays).toString(" + itself + ")";
        }
        String property = property(value);
        if (property == null) {
            return "Give it one, or use what identifies it";
        }
        return "Use a property: " + (reference == null ? "its " + property : reference.formatted(property));
    }

    /**
     * Returns a property that probably identifies the object, else one that has a text of its own; {@code null} if
     * there is none.
     */
    private static @Nullable String property(Object value) {
        for (String name : IDENTIFIERS) {
            if (Members.hasProperty(value.getClass(), name)) {
                return name;
            }
        }
        return Arrays.stream(BeanUtils.getPropertyDescriptors(value.getClass()))
                .filter(each -> each.getReadMethod() != null && isOwn(each.getReadMethod()))
                .filter(each -> hasText(each.getPropertyType()))
                .map(each -> each.getName())
                .findFirst()
                .orElse(null);
    }

    private static boolean isOwn(Method getter) {
        return getter.getDeclaringClass() != Object.class
                && !getter.getDeclaringClass().getPackageName().startsWith("java.");
    }

    private static boolean hasText(@Nullable Class<?> type) {
        return type != null
                && (CharSequence.class.isAssignableFrom(type)
                        || Number.class.isAssignableFrom(ClassUtils.resolvePrimitiveIfNecessary(type))
                        || type == UUID.class
                        || type.isEnum());
    }
}
