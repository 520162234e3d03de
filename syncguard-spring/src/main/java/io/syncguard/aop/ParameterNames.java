package io.syncguard.aop;

import io.syncguard.DistributedLock;
import io.syncguard.LockSetupException;
import io.syncguard.MessageText;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

    /** @param start the start of the message */
    static LockSetupException unknown(String start, String name, Set<String> parameters) {
        String there = start + "there is no parameter '" + name + "', only " + listed(parameters);
        return areNameless(parameters)
                ? LockSetupException.invalid(
                        there + ": the class was compiled without the names of its parameters",
                        "Compile with -parameters: <compilerArgs><arg>-parameters</arg></compilerArgs> of the"
                                + " maven-compiler-plugin, options.compilerArgs.add(\"-parameters\") in Gradle",
                        "Use the position of the parameter: #p0 is the first one")
                : LockSetupException.invalid(
                        there, MessageText.nextSteps("#" + name, listed(parameters), "Correct the name #" + name));
    }

    /** Whether the names of the parameters are unknown, so that only their positions identify them. */
    static boolean areNameless(Set<String> parameters) {
        return !parameters.isEmpty() && parameters.stream().allMatch(name -> name.matches("[ap]\\d+"));
    }

    static List<String> listed(Set<String> parameters) {
        return parameters.stream().sorted().map(name -> "#" + name).toList();
    }
}
