package io.syncguard.aop;

import io.syncguard.DistributedLock;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockMode;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.OnContention;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.expression.AnnotatedElementKey;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the annotation of a method and reads it, once for each method: on the method itself, an interface method or a
 * composed annotation, else on its class for each public method.
 *
 * <p>Asked by the proxy creator about every method of every bean, it is also where a mistake ends the start of the
 * application.
 */
final class LockedMethods {

    /** Stands in requests that get their key from the call. */
    private static final String ANY_KEY = "-";

    private final ConfigurableListableBeanFactory beans;
    private final LockManagers managers;
    private final Supplier<LockTemplate> template;
    private final Supplier<Duration> waitTime;
    private final ParameterNameDiscoverer parameterNames = new DefaultParameterNameDiscoverer();
    private final Map<AnnotatedElementKey, Optional<LockedMethod>> found = new ConcurrentHashMap<>();

    /**
     * @param template for annotations that name no manager
     * @param waitTime for annotations that name none
     */
    LockedMethods(ConfigurableListableBeanFactory beans, Supplier<LockTemplate> template, Supplier<Duration> waitTime) {
        this.beans = beans;
        this.managers = new LockManagers(beans);
        this.template = template;
        this.waitTime = waitTime;
    }

    /** What the annotation says, or {@code null} for a method that is not annotated. */
    @Nullable
    LockedMethod find(Method method, Class<?> targetClass) {
        AnnotatedElementKey key = new AnnotatedElementKey(method, targetClass);
        Optional<LockedMethod> known = found.get(key);
        if (known == null) {
            // Not inside of the map: reading may make a bean, whose proxying asks here in turn.
            known = Optional.ofNullable(read(method, targetClass));
            found.put(key, known);
        }
        return known.orElse(null);
    }

    /**
     * Reads all annotations of a bean now, while a mistake still ends the start: a proxy of interfaces asks about a method
     * at its first call only. Refuses those where no proxy could ever see the call: it would look locked and not be.
     */
    void check(Class<?> beanClass) {
        Set<Class<?>> types = new LinkedHashSet<>(ClassUtils.getAllInterfacesForClassAsSet(beanClass));
        if (!Proxy.isProxyClass(beanClass)) {
            // A class that was generated has final methods of its own.
            types.add(ClassUtils.getUserClass(beanClass));
        }
        for (Class<?> type : types) {
            for (Method method : ReflectionUtils.getUniqueDeclaredMethods(type)) {
                requireProxyable(method);
                find(method, beanClass);
            }
        }
    }

    private static void requireProxyable(Method method) {
        int hidden = method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC | Modifier.FINAL);
        boolean finalOfClass =
                hidden == Modifier.FINAL && isCoveredByClass(method) && isAnnotated(method.getDeclaringClass());
        if (hidden != 0 && (isAnnotated(method) || finalOfClass)) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "@DistributedLock on " + describe(method) + ", which is " + Modifier.toString(hidden)
                            + ": no proxy sees its calls, so it would run without a lock");
        }
    }

    private static boolean isAnnotated(AnnotatedElement element) {
        return AnnotatedElementUtils.hasAnnotation(element, DistributedLock.class);
    }

    private @Nullable LockedMethod read(Method method, Class<?> targetClass) {
        Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
        DistributedLock annotation = annotation(specific);
        if (annotation == null) {
            // A superclass that does not know the interface may implement its method.
            annotation = annotation(ClassUtils.getInterfaceMethodIfPossible(specific, targetClass));
        }
        return annotation == null ? null : new Reading(annotation, specific, targetClass).lockedMethod();
    }

    private static @Nullable DistributedLock annotation(Method method) {
        DistributedLock annotation = AnnotatedElementUtils.findMergedAnnotation(method, DistributedLock.class);
        return annotation == null && isCoveredByClass(method)
                ? AnnotatedElementUtils.findMergedAnnotation(method.getDeclaringClass(), DistributedLock.class)
                : annotation;
    }

    private static boolean isCoveredByClass(Method method) {
        return Modifier.isPublic(method.getModifiers())
                && ClassUtils.isUserLevelMethod(method)
                && !ReflectionUtils.isObjectMethod(method);
    }

    private static String describe(Method method) {
        return ClassUtils.getQualifiedMethodName(method);
    }

    /** Reads one annotation, and says where a mistake is. */
    private final class Reading {

        private final DistributedLock annotation;
        private final Method method;
        private final Class<?> targetClass;
        private final Map<String, Integer> parameters;

        Reading(DistributedLock annotation, Method method, Class<?> targetClass) {
            this.annotation = annotation;
            this.method = method;
            this.targetClass = targetClass;
            this.parameters = parameters();
        }

        LockedMethod lockedMethod() {
            String prefix = attribute("name", this::resolvedName);
            MethodExpression key = expression("key", annotation.key());
            if (prefix.isEmpty() && key == null) {
                throw mistake("attribute 'name'", "it or 'key' has to say what to lock", null);
            }
            boolean skips = annotation.onContention() == OnContention.SKIP;
            return new LockedMethod(
                    describe(method),
                    prefix,
                    key,
                    expression("condition", annotation.condition()),
                    attribute("lockManager", this::resolvedTemplate),
                    defaults(prefix),
                    waitTime(skips),
                    skips,
                    located("return type", () -> new ResultType(method, targetClass)));
        }

        private String resolvedName() {
            String name = resolve(annotation.name());
            return name.isEmpty() ? name : LockRequest.of(name).key();
        }

        private Supplier<LockTemplate> resolvedTemplate() {
            String manager = resolve(annotation.lockManager());
            return manager.isEmpty() ? template : managers.template(manager);
        }

        private LockRequest defaults(String prefix) {
            String meterName =
                    prefix.isEmpty() ? ClassUtils.getShortName(targetClass) + "." + method.getName() : prefix;
            LockRequest request = LockRequest.of(ANY_KEY).named(meterName).onLost(annotation.onLost());
            request = annotation.mode() == LockMode.SHARED ? request.shared() : request;
            request = annotation.heartbeat() ? request : request.noHeartbeat();
            request = with(request, "ttl", annotation.ttl(), LockRequest::ttl);
            request = with(request, "holdAtLeast", annotation.holdAtLeast(), LockRequest::holdAtLeast);
            return request;
        }

        private Duration waitTime(boolean skips) {
            LockRequest asked = with(LockRequest.of(ANY_KEY), "waitTime", annotation.waitTime(), LockRequest::waitTime);
            return asked.waitTime() != null ? asked.waitTime() : skips ? Duration.ZERO : waitTime.get();
        }

        private LockRequest with(LockRequest request, String attribute, String text, DurationSetter setter) {
            return attribute(attribute, () -> {
                String resolved = resolve(text);
                return resolved.isEmpty()
                        ? request
                        : setter.set(request, DurationFormatterUtils.detectAndParse(resolved));
            });
        }

        private @Nullable MethodExpression expression(String attribute, String text) {
            return text.isEmpty()
                    ? null
                    : attribute(
                            attribute, () -> new MethodExpression(text, parameters, new BeanFactoryResolver(beans)));
        }

        /** Every parameter under its names in the class and in the interface, and as p0, p1, ... and a0, a1, ... */
        private Map<String, Integer> parameters() {
            Map<String, Integer> positions = new HashMap<>();
            for (Method each : new Method[] {ClassUtils.getInterfaceMethodIfPossible(method, targetClass), method}) {
                @Nullable String @Nullable [] names = parameterNames.getParameterNames(each);
                for (int i = 0; i < each.getParameterCount(); i++) {
                    positions.put("p" + i, i);
                    positions.put("a" + i, i);
                    String name = names == null ? null : names[i];
                    if (name != null) {
                        positions.put(name, i);
                    }
                }
            }
            return positions;
        }

        private String resolve(String text) {
            String resolved = beans.resolveEmbeddedValue(text);
            return resolved == null ? "" : resolved;
        }

        private <T> T attribute(String name, Supplier<T> reading) {
            return located("attribute '" + name + "'", reading);
        }

        private <T> T located(String where, Supplier<T> reading) {
            try {
                return reading.get();
            } catch (RuntimeException ex) {
                throw mistake(where, String.valueOf(ex.getMessage()), ex);
            }
        }

        private LockException mistake(String where, String what, @Nullable Exception cause) {
            return new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "@DistributedLock on " + describe(method) + ", " + where + ": " + what,
                    cause);
        }
    }

    @FunctionalInterface
    private interface DurationSetter {
        LockRequest set(LockRequest request, Duration duration);
    }
}
