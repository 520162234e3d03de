package io.syncguard.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Compares methods of one class by name and parameters, with type variables resolved. */
final class Signature {

    private Signature() {}

    /**
     * Returns the methods of the class, its superclasses and its interfaces. For a generated proxy, returns only those
     * of its interfaces, because reflection cannot open its class.
     */
    static Stream<Method> methodsOf(Class<?> targetClass) {
        Stream<Class<?>> own = Proxy.isProxyClass(targetClass) ? Stream.empty() : Stream.of(targetClass);
        return Stream.concat(own, ClassUtils.getAllInterfacesForClassAsSet(targetClass).stream())
                .flatMap(type -> Stream.of(ReflectionUtils.getAllDeclaredMethods(type)));
    }

    /** Whether both are the same method, or one overrides or implements the other. */
    static boolean isSame(Method one, Method other, Class<?> targetClass) {
        return one.getName().equals(other.getName())
                && one.getParameterCount() == other.getParameterCount()
                && Arrays.equals(parameterTypes(one, targetClass), parameterTypes(other, targetClass));
    }

    static Class<?>[] parameterTypes(Method method, Class<?> targetClass) {
        return IntStream.range(0, method.getParameterCount())
                .mapToObj(i -> ResolvableType.forMethodParameter(method, i, targetClass)
                        .resolve(Object.class))
                .toArray(Class<?>[]::new);
    }
}
