package io.syncguard.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Name and parameters of methods of one class, whose type variables are resolved. */
final class Signature {

    private Signature() {}

    /**
     * Also those of its superclasses and interfaces. Not those of a generated proxy, whose class nobody may open: those
     * of its interfaces.
     */
    static Stream<Method> methodsOf(Class<?> targetClass) {
        Stream<Class<?>> own = Proxy.isProxyClass(targetClass) ? Stream.empty() : Stream.of(targetClass);
        return Stream.concat(own, ClassUtils.getAllInterfacesForClassAsSet(targetClass).stream())
                .flatMap(type -> Stream.of(ReflectionUtils.getAllDeclaredMethods(type)));
    }

    /** Whether they are one method, or one overrides or implements the other. */
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
