package io.syncguard.interception;

import io.syncguard.LockSetupException;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the annotation of a method, and refuses a second one that would count for nothing. Annotations of one kind
 * replace each other: a method's goes before its class's, and a subtype's before its supertype's. A composed annotation
 * is a kind of its own, and replaces no other. Thread-safe.
 *
 * @param <A> the annotation
 */
final class SoleAnnotation<A extends Annotation> {

    private final Class<A> annotation;

    SoleAnnotation(Class<A> annotation) {
        this.annotation = annotation;
    }

    /** Whether the element or what it overrides has the annotation, perhaps several times. */
    static boolean isOn(AnnotatedElement element, Class<? extends Annotation> annotation) {
        return MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).isPresent(annotation);
    }

    /** Whether an annotation of the class applies to the method. */
    static boolean isCoveredByClass(Method method) {
        return Modifier.isPublic(method.getModifiers())
                && ClassUtils.isUserLevelMethod(method)
                && !ReflectionUtils.isObjectMethod(method);
    }

    /**
     * @param method the implementation
     * @throws LockSetupException when another annotation for the same method would be dropped
     */
    @Nullable
    A find(Method method, Class<?> targetClass) {
        List<Method> declarations = declarations(method, targetClass);
        List<MergedAnnotation<A>> onMethods = annotationsOn(declarations);
        List<MergedAnnotation<A>> onClasses = annotationsOn(declarations.stream()
                .filter(SoleAnnotation::isCoveredByClass)
                .<AnnotatedElement>map(Method::getDeclaringClass)
                .toList());
        if (onMethods.isEmpty() && onClasses.isEmpty()) {
            return null;
        }
        MergedAnnotation<A> nearest = nearest(onMethods.isEmpty() ? onClasses : onMethods);
        Stream.of(onMethods, onClasses, belowClassOf(method, targetClass))
                .flatMap(Collection::stream)
                .filter(each -> each != nearest && isDropped(each, nearest))
                .findFirst()
                .ifPresent(dropped -> refuse(method, nearest, dropped));
        return nearest.synthesize();
    }

    /** The method may be implemented by a superclass that does not implement its interface. */
    private static List<Method> declarations(Method method, Class<?> targetClass) {
        Stream<Method> ofInterfaces = ClassUtils.getAllInterfacesForClassAsSet(targetClass).stream()
                .flatMap(type -> Stream.of(type.getMethods()))
                .filter(each -> implementsIt(method, each, targetClass));
        return Stream.concat(Stream.of(method), ofInterfaces).toList();
    }

    private static boolean implementsIt(Method method, Method ofInterface, Class<?> targetClass) {
        return method.getName().equals(ofInterface.getName())
                && !Modifier.isStatic(ofInterface.getModifiers())
                && method.getParameterCount() == ofInterface.getParameterCount()
                && (Arrays.equals(method.getParameterTypes(), ofInterface.getParameterTypes())
                        || parameters(method, targetClass).equals(parameters(ofInterface, targetClass)));
    }

    /** The types of the parameters with the arguments that the class gives to type variables. */
    private static List<Class<?>> parameters(Method method, Class<?> targetClass) {
        return IntStream.range(0, method.getParameterCount())
                .<Class<?>>mapToObj(i -> ResolvableType.forMethodParameter(method, i, targetClass)
                        .resolve(method.getParameterTypes()[i]))
                .toList();
    }

    /**
     * Annotations of subclasses that only inherit the method. They count for the methods that these classes declare.
     */
    private List<MergedAnnotation<A>> belowClassOf(Method method, Class<?> targetClass) {
        return isCoveredByClass(method)
                ? Stream.<Class<?>>iterate(
                                ClassUtils.getUserClass(targetClass),
                                type -> type != null && !type.isAssignableFrom(method.getDeclaringClass()),
                                Class::getSuperclass)
                        .flatMap(type -> MergedAnnotations.from(type).stream(annotation))
                        .toList()
                : List.of();
    }

    /** Returns the annotations of these elements and of what they override or extend, once for each place. */
    private List<MergedAnnotation<A>> annotationsOn(List<? extends AnnotatedElement> elements) {
        Map<Object, List<MergedAnnotation<A>>> byPlace = new LinkedHashMap<>();
        for (AnnotatedElement element : elements) {
            MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).stream(annotation)
                    .collect(Collectors.groupingBy(SoleAnnotation::place, LinkedHashMap::new, Collectors.toList()))
                    .forEach(byPlace::putIfAbsent);
        }
        return byPlace.values().stream().flatMap(Collection::stream).toList();
    }

    private static <A extends Annotation> MergedAnnotation<A> nearest(List<MergedAnnotation<A>> all) {
        Predicate<MergedAnnotation<A>> isOverridden =
                each -> all.stream().anyMatch(other -> type(each) != type(other) && isAbove(each, other));
        return all.stream().filter(isOverridden.negate()).findFirst().orElse(all.get(0));
    }

    private static <A extends Annotation> boolean isDropped(MergedAnnotation<A> other, MergedAnnotation<A> nearest) {
        boolean replaced = isOfClass(other) && !isOfClass(nearest) || isAbove(other, nearest);
        return place(other).equals(place(nearest))
                || kind(other) != kind(nearest)
                || !replaced && !other.synthesize().equals(nearest.synthesize());
    }

    private void refuse(Method method, MergedAnnotation<A> nearest, MergedAnnotation<A> dropped) {
        String name = "@" + annotation.getSimpleName();
        boolean sameKind = kind(nearest) == kind(dropped);
        boolean samePlace = place(nearest).equals(place(dropped));
        String both = sameKind && samePlace
                ? described(nearest) + " stands for two " + name
                : described(nearest) + " and " + described(dropped) + " are for the same method";
        throw LockSetupException.invalid(
                name + " on " + ClassUtils.getQualifiedMethodName(method) + ": " + both
                        + ", and only one of them would count",
                "Leave one of them out",
                sameKind && !samePlace
                        ? "Annotate the method itself in the class, which replaces both"
                        : "Move one of them to a method of another bean, and call that method");
    }

    private static String described(MergedAnnotation<?> each) {
        Object place = place(each);
        return "@" + kind(each).getSimpleName() + " on "
                + (place instanceof Method method
                        ? ClassUtils.getQualifiedMethodName(method)
                        : type(each).getName());
    }

    /** The annotation in source code. */
    private static Class<? extends Annotation> kind(MergedAnnotation<?> each) {
        return each.getRoot().getType();
    }

    /** The method or class in source code. */
    private static Object place(MergedAnnotation<?> each) {
        return Objects.requireNonNull(each.getSource());
    }

    private static boolean isOfClass(MergedAnnotation<?> each) {
        return place(each) instanceof Class;
    }

    private static Class<?> type(MergedAnnotation<?> each) {
        return place(each) instanceof Method method ? method.getDeclaringClass() : (Class<?>) place(each);
    }

    private static boolean isAbove(MergedAnnotation<?> each, MergedAnnotation<?> other) {
        return type(each).isAssignableFrom(type(other));
    }
}
