package io.syncguard.interception;

import io.syncguard.LockSetupException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.ProxyProcessorSupport;
import org.springframework.core.KotlinDetector;
import org.springframework.util.ClassUtils;

/** Classes that can have no subclass, so that Spring can only proxy their interfaces. */
final class ClosedClass {

    private static final ProxyInterfaces INTERFACES = new ProxyInterfaces();

    private ClosedClass() {}

    static boolean isClosed(Class<?> type) {
        boolean hasNoSubclass = Modifier.isFinal(type.getModifiers()) || type.isSealed();
        return hasNoSubclass && !Proxy.isProxyClass(type) && !ClassUtils.isLambdaClass(type);
    }

    /** Whether Spring can proxy the interfaces of the class instead. */
    static boolean hasInterfaceForProxy(Class<?> type) {
        return INTERFACES.existFor(type);
    }

    /** @param annotation the name of the annotation, with its {@code @} */
    static LockSetupException refusal(String annotation, Method method, Class<?> type) {
        String kind = type.isRecord() ? "a record" : type.isSealed() ? "sealed" : "final";
        String instead = type.isRecord() ? "Make it a class that is not final" : "Remove '" + kind + "' from the class";
        List<String> nextSteps = new ArrayList<>();
        nextSteps.add(inLanguageOf(type, instead, "open before the class and the method"));
        nextSteps.add(
                hasInterfaceForProxy(type)
                        ? "Set spring.aop.proxy-target-class=false: the proxy then has the interfaces of the class"
                        : "Have it implement an interface with the method, and set"
                                + " spring.aop.proxy-target-class=false");
        if (annotation.equals("@DistributedLock")) {
            nextSteps.add("Use a LockTemplate in the method");
        }
        return LockSetupException.invalid(
                annotation + " on " + ClassUtils.getQualifiedMethodName(method, type) + ", whose class is " + kind
                        + ": Spring cannot make the proxy that sees its calls",
                nextSteps.toArray(String[]::new));
    }

    /** Classes and methods of Kotlin are final by default. */
    static String inLanguageOf(Class<?> type, String inJava, String inKotlin) {
        return KotlinDetector.isKotlinType(type)
                ? "Write " + inKotlin + ", or use the compiler plugin kotlin-spring, which opens Spring's beans"
                : inJava;
    }

    /** Decides as Spring's proxy creators do. */
    private static final class ProxyInterfaces extends ProxyProcessorSupport {

        private static final long serialVersionUID = 1L;

        boolean existFor(Class<?> type) {
            ProxyFactory proxy = new ProxyFactory();
            evaluateProxyInterfaces(type, proxy);
            return !proxy.isProxyTargetClass();
        }
    }
}
