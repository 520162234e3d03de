package io.syncguard.aop;

import io.syncguard.DistributedLock;
import io.syncguard.LockException;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockSetupException;
import io.syncguard.MessageText;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * The method that runs instead of one whose lock was refused.
 *
 * @param method a method of the same class or of its interfaces
 * @param takesRefusal whether its last parameter is the refusal
 */
record FallbackMethod(Method method, boolean takesRefusal) {

    /** The types that the parameter for the refusal may have, the most specific one first. */
    private static final List<Class<?>> REFUSALS = List.of(
            LockNotAcquiredException.class,
            LockException.class,
            RuntimeException.class,
            Exception.class,
            Throwable.class);

    /**
     * @throws LockSetupException when the class has no such method, its result type does not fit, or it is the locked
     *     method itself
     */
    static FallbackMethod find(String name, Method locked, Class<?> targetClass) {
        FallbackMethod found = findOrNull(name, locked, targetClass);
        if (found == null) {
            requireNone(name, locked, targetClass);
            boolean proxy = Proxy.isProxyClass(targetClass);
            throw LockSetupException.invalid(
                    (proxy ? locked.getDeclaringClass() : targetClass).getSimpleName() + " has no method '" + name
                            + "' with the parameters of this method",
                    MessageText.nextSteps(
                            name,
                            Signature.methodsOf(targetClass)
                                    .map(Method::getName)
                                    .toList(),
                            "Correct the name in 'fallback'",
                            "Write one" + (proxy ? " as a default method" : "")
                                    + ", with or without a LockNotAcquiredException as its last parameter"));
        }
        if (found.isFor(locked, targetClass) && !isFallbackOfOthers(name, locked, targetClass)) {
            throw LockSetupException.invalid(
                    "it names the method itself, which would run without the lock",
                    "Name another method",
                    "Add a LockNotAcquiredException as the last parameter of a method '" + name + "'");
        }
        requireResult(found.method, locked, targetClass);
        if (!found.isFor(locked, targetClass)) {
            requireEnd(found, locked, targetClass);
        }
        return found;
    }

    /** @throws LockSetupException when methods of this name have other parameters */
    private static void requireNone(String name, Method locked, Class<?> targetClass) {
        String there = Signature.methodsOf(targetClass)
                .filter(method -> method.getName().equals(name) && !method.isSynthetic())
                .map(method -> described(name, method, Signature.parameterTypes(method, targetClass)))
                .distinct()
                .collect(Collectors.joining(" and "));
        if (!there.isEmpty()) {
            Class<?>[] plain = Signature.parameterTypes(locked, targetClass);
            throw LockSetupException.invalid(
                    "there is " + there + ", but it has to be " + described(name, locked, plain) + " or "
                            + described(name, locked, insert(LockNotAcquiredException.class, plain, locked)),
                    "Correct the parameters of '" + name + "'",
                    "Name another method");
        }
    }

    /** Describes a method as in source code. The compiler adds the last parameter of a suspending function. */
    private static String described(String name, Method suspending, Class<?>[] parameters) {
        boolean suspends = KotlinDetector.isSuspendingFunction(suspending);
        return Arrays.stream(parameters)
                .limit(suspends ? parameters.length - 1 : parameters.length)
                .map(Class::getSimpleName)
                .collect(Collectors.joining(", ", (suspends ? "suspend " : "") + name + "(", ")"));
    }

    /** Finds the method, but does not check its result; {@code null} when the class has no such method. */
    static @Nullable FallbackMethod findOrNull(String name, Method locked, Class<?> targetClass) {
        Class<?>[] plain = Signature.parameterTypes(locked, targetClass);
        List<Method> named = Signature.methodsOf(targetClass)
                .filter(method -> method.getName().equals(name) && !method.isSynthetic())
                .toList();
        Stream<Class<?>[]> withRefusal = REFUSALS.stream().map(refusal -> insert(refusal, plain, locked));
        return Stream.concat(withRefusal, Stream.<Class<?>[]>of(plain))
                .flatMap(parameters -> named.stream()
                        .filter(method -> Arrays.equals(Signature.parameterTypes(method, targetClass), parameters))
                        .limit(1)
                        .map(method -> new FallbackMethod(method, parameters != plain)))
                .findFirst()
                .orElse(null);
    }

    /** A fallback with a lock may have a fallback, too, but the last one runs in any case. */
    private static void requireEnd(FallbackMethod first, Method locked, Class<?> targetClass) {
        List<Method> calls = new ArrayList<>(List.of(locked));
        for (FallbackMethod next = first; next != null; next = next.own(targetClass)) {
            FallbackMethod each = next;
            boolean again = calls.stream().anyMatch(call -> each.isFor(call, targetClass));
            calls.add(each.method);
            if (again) {
                throw LockSetupException.invalid(
                        "the fallbacks call each other again and again: "
                                + calls.stream().map(Method::getName).collect(Collectors.joining(", ")),
                        "Leave the last fallback out",
                        "Name another method");
            }
        }
    }

    /** The fallback of this fallback. */
    private @Nullable FallbackMethod own(Class<?> targetClass) {
        DistributedLock own = AnnotatedElementUtils.findMergedAnnotation(method, DistributedLock.class);
        return own == null || own.fallback().isEmpty() ? null : findOrNull(own.fallback(), method, targetClass);
    }

    /** Whether both are the same method, or one overrides or implements the other. */
    private boolean isFor(Method other, Class<?> targetClass) {
        return Signature.isSame(method, other, targetClass);
    }

    /** An annotation of the class also locks the method that is the fallback of its other methods. */
    private static boolean isFallbackOfOthers(String name, Method locked, Class<?> targetClass) {
        return !AnnotatedElementUtils.hasAnnotation(locked, DistributedLock.class)
                && Signature.methodsOf(targetClass)
                        .filter(method -> Modifier.isPublic(method.getModifiers())
                                && !method.isSynthetic()
                                && method.getDeclaringClass() != Object.class)
                        .filter(method -> !new FallbackMethod(method, false).isFor(locked, targetClass))
                        .map(method -> findOrNull(name, method, targetClass))
                        .anyMatch(found -> found != null && found.isFor(locked, targetClass));
    }

    /** The call that follows a refused one. */
    FallbackCall callAfter(MethodInvocation refused, LockNotAcquiredException refusal) {
        @Nullable Object[] arguments = refused.getArguments();
        return new FallbackCall(
                method, hasOwnLock(), takesRefusal ? insert(refusal, arguments, method) : arguments, refused);
    }

    /** Whether the method itself has an annotation, rather than its class. */
    private boolean hasOwnLock() {
        return AnnotatedElementUtils.hasAnnotation(method, DistributedLock.class);
    }

    /** Adds the refusal behind the arguments. The last parameter of a suspending function is its continuation. */
    private static <T extends @Nullable Object> T[] insert(T refusal, T[] arguments, Method suspending) {
        List<T> all = new ArrayList<>(Arrays.asList(arguments));
        all.add(KotlinDetector.isSuspendingFunction(suspending) ? all.size() - 1 : all.size(), refusal);
        return all.toArray(Arrays.copyOf(arguments, 0));
    }

    private static void requireResult(Method fallback, Method locked, Class<?> targetClass) {
        ResolvableType expected = ResolvableType.forMethodReturnType(locked, targetClass);
        ResolvableType actual = ResolvableType.forMethodReturnType(fallback, targetClass);
        if (!expected.isAssignableFrom(actual)) {
            throw LockSetupException.invalid(
                    "the result of '" + fallback.getName() + "' is " + actual + ", but that of this method is "
                            + expected,
                    "Return " + expected + " from '" + fallback.getName() + "'");
        }
    }
}
