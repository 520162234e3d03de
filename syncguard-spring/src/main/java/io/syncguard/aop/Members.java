package io.syncguard.aop;

import io.syncguard.LockSetupException;
import io.syncguard.MessageText;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * The members that SpEL finds in values of a static type. A subclass may have further ones, so a missing member is a
 * mistake for final classes only: records, most enums, strings and numbers.
 */
final class Members {

    /** Maximum number of names in a message. More would not help. */
    private static final int MAX_LISTED = 12;

    private static final Finder FINDER = new Finder();

    private Members() {}

    /** Whether SpEL can read the property from values of the class. */
    static boolean hasProperty(Class<?> type, String name) {
        return type.isArray() && name.equals("length")
                || FINDER.getter(name, type) != null
                || FINDER.field(name, type) != null;
    }

    /** Whether Spring would take a lower bound, as in {@code List<? super Order>}, for the type. */
    static boolean hasLowerBound(Type type) {
        return type.getTypeName().contains("? super ");
    }

    /**
     * The type of a property; {@code null} if it is known only in the call.
     *
     * @throws LockSetupException when no value of this type has the property
     */
    static @Nullable ResolvableType property(ResolvableType owner, String name, boolean nullSafe) {
        Class<?> type = classOf(owner);
        // From Spring Framework 7 on, ?. reads the value of an optional.
        boolean closed = isClosed(type) && !(type == Optional.class && nullSafe);
        if (closed && !hasProperty(type, name)) {
            throw noProperty(type, name);
        }
        Method getter = FINDER.getter(name, type);
        if (getter != null) {
            // A subclass may have a getter that SpEL prefers to any other method.
            return closed || getter.getName().equals("get" + StringUtils.capitalize(name))
                    ? typeOf(getter.getGenericReturnType(), owner.as(getter.getDeclaringClass()))
                    : null;
        }
        Field field = closed ? FINDER.field(name, type) : null;
        return field == null ? null : typeOf(field.getGenericType(), owner.as(field.getDeclaringClass()));
    }

    /**
     * The return type of a method; {@code null} if it is known only in the call.
     *
     * @throws LockSetupException when no value of this type has the method
     */
    static @Nullable ResolvableType method(ResolvableType owner, String name, int arguments, boolean nullSafe) {
        Class<?> type = classOf(owner);
        boolean closed = isClosed(type) && !(type == Optional.class && nullSafe);
        List<Method> methods = Arrays.stream(type.getMethods())
                .filter(each -> each.getName().equals(name) && !each.isBridge() && accepts(each, arguments))
                .toList();
        if (closed && methods.isEmpty()) {
            throw LockSetupException.invalid(
                    "there is no public method '" + name + "' with " + arguments
                            + (arguments == 1 ? " argument in " : " arguments in ") + type.getName(),
                    MessageText.nextSteps(
                            name,
                            Arrays.stream(type.getMethods())
                                    .map(Method::getName)
                                    .toList(),
                            "Correct the name or its arguments"));
        }
        if (methods.size() != 1 || !closed && arguments > 0) {
            return null;
        }
        Method method = methods.get(0);
        return typeOf(method.getGenericReturnType(), owner.as(method.getDeclaringClass()));
    }

    /** The type of the elements of an array or collection; {@code null} if it has none. */
    static @Nullable ResolvableType element(ResolvableType owner) {
        if (owner.isArray()) {
            return owner.getComponentType();
        }
        return Iterable.class.isAssignableFrom(classOf(owner))
                ? owner.as(Iterable.class).getGeneric()
                : null;
    }

    /** The type of the values of a map, or of the elements of an array or collection. */
    static @Nullable ResolvableType indexed(ResolvableType owner) {
        return Map.class.isAssignableFrom(classOf(owner)) ? owner.as(Map.class).getGeneric(1) : element(owner);
    }

    private static @Nullable ResolvableType typeOf(Type declared, ResolvableType owner) {
        return hasLowerBound(declared) ? null : ResolvableType.forType(declared, owner);
    }

    private static Class<?> classOf(ResolvableType type) {
        return ClassUtils.resolvePrimitiveIfNecessary(type.resolve(Object.class));
    }

    /** SpEL also reads the static members of a {@code Class}. */
    private static boolean isClosed(Class<?> type) {
        return type.isArray() || Modifier.isFinal(type.getModifiers()) && type != Class.class;
    }

    private static boolean accepts(Method method, int arguments) {
        return method.isVarArgs()
                ? arguments >= method.getParameterCount() - 1
                : arguments == method.getParameterCount();
    }

    private static LockSetupException noProperty(Class<?> type, String name) {
        Set<String> there = properties(type);
        boolean listed = !there.isEmpty() && there.size() <= MAX_LISTED;
        String problem =
                "there is no public '" + name + "' in " + type.getName() + (listed ? ", which has " + there : "");
        return type == Optional.class
                ? LockSetupException.invalid(problem, "For its value, write .get()." + name)
                : LockSetupException.invalid(
                        problem, MessageText.nextSteps(name, there, "Correct the name '" + name + "'"));
    }

    private static Set<String> properties(Class<?> type) {
        Set<String> names = new LinkedHashSet<>();
        if (type.isRecord()) {
            Arrays.stream(type.getRecordComponents()).forEach(component -> names.add(component.getName()));
        }
        if (!type.isEnum() && !type.getName().startsWith("java.")) {
            Arrays.stream(BeanUtils.getPropertyDescriptors(type))
                    .filter(property -> property.getReadMethod() != null)
                    .forEach(property -> names.add(property.getName()));
        }
        names.remove("class");
        return names;
    }

    /** Finds members as SpEL does. */
    private static final class Finder extends ReflectivePropertyAccessor {

        @Nullable
        Method getter(String name, Class<?> type) {
            return findGetterForProperty(name, type, false);
        }

        @Nullable
        Field field(String name, Class<?> type) {
            return findField(name, type, false);
        }
    }
}
