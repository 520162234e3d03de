package io.syncguard.aop;

import io.syncguard.LockSetupException;
import io.syncguard.MessageText;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * The static type of a value: in each call, the value has this type or a subtype.
 *
 * @param ofClass whether the value is the class itself, as in {@code T(String)}
 */
record KnownType(ResolvableType type, boolean ofClass) {

    /** Maximum number of names in a message. More would not help. */
    private static final int MAX_LISTED = 12;

    private static final Members MEMBERS = new Members();

    static KnownType of(Class<?> type) {
        return of(ResolvableType.forClass(type));
    }

    static KnownType of(ResolvableType type) {
        Class<?> raw = type.resolve(Object.class);
        return raw.isPrimitive()
                ? new KnownType(ResolvableType.forClass(ClassUtils.resolvePrimitiveIfNecessary(raw)), false)
                : new KnownType(type, false);
    }

    static KnownType ofClass(Class<?> type) {
        return new KnownType(ResolvableType.forClass(type), true);
    }

    /** Whether SpEL can read the property from values of the class. */
    static boolean hasProperty(Class<?> type, String name) {
        return type.isArray() && name.equals("length")
                || MEMBERS.getter(name, type, false) != null
                || MEMBERS.field(name, type, false) != null;
    }

    Class<?> raw() {
        return type.resolve(Object.class);
    }

    /**
     * The type of a property; {@code null} if it is known only in the call.
     *
     * @throws LockSetupException when no value of this type has the property
     */
    @Nullable
    KnownType property(String name, boolean nullSafe) {
        List<Class<?>> possible = possibleClasses(nullSafe);
        if (possible != null && possible.stream().noneMatch(each -> isReadable(each, name))) {
            throw noProperty(name);
        }
        Method getter = MEMBERS.getter(name, raw(), ofClass);
        if (getter != null) {
            // A subclass may have a getter that SpEL prefers to any other method or field.
            boolean same = isOneClass(possible) || getter.getName().equals("get" + StringUtils.capitalize(name));
            return same ? result(getter) : null;
        }
        Field field = isOneClass(possible) ? MEMBERS.field(name, raw(), ofClass) : null;
        return field == null ? null : of(resolved(field.getGenericType(), field.getDeclaringClass()));
    }

    /**
     * The return type of a method; {@code null} if it is known only in the call.
     *
     * @throws LockSetupException when no value of this type has the method
     */
    @Nullable
    KnownType method(String name, int arguments, boolean nullSafe) {
        List<Class<?>> possible = possibleClasses(nullSafe);
        if (possible != null
                && possible.stream()
                        .allMatch(each -> methods(each, name, arguments).isEmpty())) {
            throw LockSetupException.invalid(
                    "there is no public method '" + name + "' with " + arguments
                            + (arguments == 1 ? " argument in " : " arguments in ") + raw().getName(),
                    MessageText.nextSteps(name, methodNames(), "Correct the name or its arguments"));
        }
        List<Method> methods = methods(raw(), name, arguments);
        return methods.size() == 1 && (isOneClass(possible) || arguments == 0) ? result(methods.get(0)) : null;
    }

    /** The elements of a collection or array; {@code null} if they are unknown. */
    @Nullable
    KnownType element() {
        if (ofClass || hasLowerBound()) {
            return null;
        }
        if (type.isArray()) {
            return of(type.getComponentType());
        }
        if (Iterable.class.isAssignableFrom(raw())) {
            return of(type.as(Iterable.class).getGeneric());
        }
        return null;
    }

    /** Whether SpEL reads an index as the name of a property. */
    boolean isIndexedByProperty() {
        return !ofClass
                && !type.isArray()
                && !Collection.class.isAssignableFrom(raw())
                && !Map.class.isAssignableFrom(raw())
                && raw() != String.class;
    }

    /** The type of an indexed element; {@code null} if it is unknown. */
    @Nullable
    KnownType indexed() {
        return Iterable.class.isAssignableFrom(raw()) || type.isArray()
                ? element()
                : Map.class.isAssignableFrom(raw()) && !ofClass && !hasLowerBound()
                        ? of(type.as(Map.class).getGeneric(1))
                        : null;
    }

    /**
     * The classes that the value can have; {@code null} if they are not all known, or if SpEL also reads another
     * object.
     */
    private @Nullable List<Class<?>> possibleClasses(boolean nullSafe) {
        if (ofClass) {
            return List.of(raw());
        }
        // SpEL reads the static members of a class, and from Spring Framework 7 on the value of an optional.
        boolean elsewhere = raw() == Class.class || raw() == Optional.class && nullSafe;
        return elsewhere ? null : possibleClasses(raw());
    }

    private static @Nullable List<Class<?>> possibleClasses(Class<?> type) {
        if (type.isArray() || Modifier.isFinal(type.getModifiers())) {
            return List.of(type);
        }
        Class<?>[] permitted = type.getPermittedSubclasses();
        if (permitted == null || permitted.length == 0) {
            return null;
        }
        List<Class<?>> all = new ArrayList<>();
        if (!Modifier.isAbstract(type.getModifiers())) {
            all.add(type);
        }
        for (Class<?> each : permitted) {
            List<Class<?>> below = possibleClasses(each);
            if (below == null) {
                return null;
            }
            all.addAll(below);
        }
        return all;
    }

    private boolean isOneClass(@Nullable List<Class<?>> possible) {
        return possible != null && possible.equals(List.of(raw()));
    }

    private boolean isReadable(Class<?> each, String name) {
        return ofClass
                ? MEMBERS.getter(name, each, true) != null
                        || MEMBERS.field(name, each, true) != null
                        || hasProperty(Class.class, name)
                : hasProperty(each, name);
    }

    private List<Method> methods(Class<?> owner, String name, int arguments) {
        Stream<Method> own =
                Arrays.stream(owner.getMethods()).filter(each -> !ofClass || Modifier.isStatic(each.getModifiers()));
        Stream<Method> all = ofClass ? Stream.concat(own, Arrays.stream(Class.class.getMethods())) : own;
        return all.filter(each -> each.getName().equals(name) && !each.isBridge() && accepts(each, arguments))
                .toList();
    }

    private static boolean accepts(Executable executable, int arguments) {
        return executable.isVarArgs()
                ? arguments >= executable.getParameterCount() - 1
                : arguments == executable.getParameterCount();
    }

    private KnownType result(Method method) {
        return of(resolved(method.getGenericReturnType(), method.getDeclaringClass()));
    }

    private ResolvableType resolved(Type member, Class<?> declaring) {
        return hasLowerBound() ? ResolvableType.forType(member) : ResolvableType.forType(member, type.as(declaring));
    }

    /**
     * Whether a type argument has a lower bound, as in {@code List<? super Order>}. Spring takes the bound for the
     * type.
     */
    private boolean hasLowerBound() {
        return Arrays.stream(type.getGenerics())
                .anyMatch(generic ->
                        generic.getType() instanceof WildcardType wildcard && wildcard.getLowerBounds().length > 0);
    }

    private LockSetupException noProperty(String name) {
        Set<String> there = ofClass ? Set.of() : properties();
        boolean listed = !there.isEmpty() && there.size() <= MAX_LISTED;
        // Users know the call as #root.
        String owner = raw() == MethodCall.class ? "#root" : raw().getName();
        String problem = "there is no public '" + name + "' in " + owner + (listed ? ", which has " + there : "");
        return raw() == Optional.class
                ? LockSetupException.invalid(problem, "For its value, write .get()." + name)
                : LockSetupException.invalid(
                        problem, MessageText.nextSteps(name, there, "Correct the name '" + name + "'"));
    }

    private List<String> methodNames() {
        return Arrays.stream(raw().getMethods()).map(Method::getName).toList();
    }

    private Set<String> properties() {
        Set<String> names = new LinkedHashSet<>();
        if (raw().isRecord()) {
            Arrays.stream(raw().getRecordComponents()).forEach(component -> names.add(component.getName()));
        }
        if (!raw().isEnum() && !raw().getName().startsWith("java.")) {
            Arrays.stream(BeanUtils.getPropertyDescriptors(raw()))
                    .filter(property -> property.getReadMethod() != null)
                    .forEach(property -> names.add(property.getName()));
        }
        names.remove("class");
        return names;
    }

    /** Finds members as SpEL does. */
    private static final class Members extends ReflectivePropertyAccessor {

        @Nullable
        Method getter(String name, Class<?> type, boolean ofClass) {
            return findGetterForProperty(name, type, ofClass);
        }

        @Nullable
        Field field(String name, Class<?> type, boolean ofClass) {
            return findField(name, type, ofClass);
        }
    }
}
