package io.syncguard.aop;

import io.syncguard.DistributedLock;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/** The names by which an expression knows the parameters of a method. */
final class ParameterNames {

    private static final ParameterNameDiscoverer DISCOVERER = new DefaultParameterNameDiscoverer();

    private ParameterNames() {}

    /**
     * Maps names of parameters to their positions. A parameter has its names in the class, in superclasses and in
     * interfaces, and p0, p1, ... and a0, a1, .... If two methods use one name for different parameters, the method
     * with the annotation counts.
     */
    static Map<String, Integer> of(Method method, Class<?> targetClass) {
        Map<String, Integer> positions = new HashMap<>();
        for (Method each : methods(method, targetClass)) {
            @Nullable String @Nullable [] names = DISCOVERER.getParameterNames(each);
            for (int i = 0; i < each.getParameterCount(); i++) {
                positions.put("p" + i, i);
                positions.put("a" + i, i);
                // A suspending function has one more parameter, without a name.
                String name = names == null || i >= names.length ? null : names[i];
                if (name != null) {
                    positions.put(name, i);
                }
            }
        }
        return positions;
    }

    /** The method and those that it overrides or implements, the one with the annotation last. */
    static List<Method> methods(Method method, Class<?> targetClass) {
        List<Method> methods = new ArrayList<>(Signature.methodsOf(targetClass)
                .filter(each -> !each.isSynthetic() && Signature.isSame(each, method, targetClass))
                .filter(each -> !each.equals(method))
                .toList());
        methods.add(method);
        Method annotated = annotated(methods);
        methods.remove(annotated);
        methods.add(annotated);
        return methods;
    }

    private static Method annotated(List<Method> methods) {
        Method last = methods.get(methods.size() - 1);
        return methods.stream()
                .filter(each -> each.equals(source(last)))
                .findFirst()
                .or(() -> methods.stream()
                        .filter(each -> each.equals(source(each)))
                        .findFirst())
                .orElseGet(() -> ofAnnotatedType(methods, last));
    }

    private static @Nullable Object source(Method method) {
        return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY)
                .get(DistributedLock.class)
                .getSource();
    }

    private static Method ofAnnotatedType(List<Method> methods, Method last) {
        Object type = MergedAnnotations.from(last.getDeclaringClass(), SearchStrategy.TYPE_HIERARCHY)
                .get(DistributedLock.class)
                .getSource();
        return methods.stream()
                .filter(each -> each.getDeclaringClass().equals(type))
                .findFirst()
                .orElse(last);
    }
}
