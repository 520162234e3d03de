package io.syncguard.aop;

import io.syncguard.DistributedLock;
import io.syncguard.interception.AnnotatedMethodPointcut;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * Registers for a native image what locked methods use by reflection: the members of arguments that expressions read,
 * and the fallbacks. Only declared types are registered. The application has to register what an expression reads from
 * a subtype or from another bean.
 */
final class LockedMethodAotProcessor implements BeanRegistrationAotProcessor {

    private final AnnotatedMethodPointcut<DistributedLock, DistributedLock> annotations = new AnnotatedMethodPointcut<>(
            DistributedLock.class, "without a lock", (annotation, method, targetClass) -> annotation);

    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        Class<?> type = ClassUtils.getUserClass(typeOf(bean));
        Map<Method, DistributedLock> locked = MethodIntrospector.selectMethods(
                type, (MethodIntrospector.MetadataLookup<DistributedLock>) method -> annotations.find(method, type));
        return locked.isEmpty()
                ? null
                : (generation, code) -> {
                    ReflectionHints hints = generation.getRuntimeHints().reflection();
                    locked.forEach((method, annotation) -> register(annotation, method, type, hints));
                };
    }

    /** The class of the bean. Factory beans create repositories and clients. */
    private static Class<?> typeOf(RegisteredBean bean) {
        Class<?> made = FactoryBean.class.isAssignableFrom(bean.getBeanClass())
                ? bean.getBeanFactory().getType(bean.getBeanName(), false)
                : null;
        return made == null ? bean.getBeanClass() : made;
    }

    private static void register(
            DistributedLock annotation, Method method, Class<?> targetClass, ReflectionHints hints) {
        if (hasExpression(annotation)) {
            hints.registerType(MethodCall.class, MemberCategory.INVOKE_PUBLIC_METHODS);
            // Expressions take the names of parameters from all these methods.
            ParameterNames.methods(method, targetClass)
                    .forEach(each -> hints.registerMethod(each, ExecutableMode.INVOKE));
            for (int i = 0; i < method.getParameterCount(); i++) {
                Type parameter = ResolvableType.forMethodParameter(method, i, targetClass)
                        .getType();
                hints.registerType(method.getParameterTypes()[i], MemberCategory.INVOKE_PUBLIC_METHODS);
                new BindingReflectionHintsRegistrar().registerReflectionHints(hints, parameter);
            }
        }
        if (!annotation.fallback().isEmpty()) {
            FallbackMethod fallback = FallbackMethod.findOrNull(annotation.fallback(), method, targetClass);
            if (fallback != null) {
                hints.registerMethod(fallback.method(), ExecutableMode.INVOKE);
            }
        }
    }

    private static boolean hasExpression(DistributedLock annotation) {
        return !(annotation.key() + annotation.condition() + annotation.fencedResource()).isEmpty();
    }
}
