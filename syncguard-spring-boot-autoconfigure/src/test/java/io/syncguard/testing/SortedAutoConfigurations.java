package io.syncguard.testing;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.annotation.Configurations;
import org.springframework.core.Ordered;

/**
 * Auto-configurations in the order of {@link AutoConfigurations}, which reads all class files that they name, several
 * times for each application. This class does so once for each set.
 */
public final class SortedAutoConfigurations extends Configurations implements Ordered {

    private static final int ORDER = AutoConfigurations.of().getOrder();

    private static final Map<Set<Class<?>>, List<Class<?>>> SORTED = new ConcurrentHashMap<>();

    private SortedAutoConfigurations(Collection<Class<?>> classes) {
        super(SortedAutoConfigurations::sort, classes, Class::getName);
    }

    public static SortedAutoConfigurations of(Class<?>... classes) {
        return new SortedAutoConfigurations(List.of(classes));
    }

    @Override
    public int getOrder() {
        return ORDER;
    }

    @Override
    protected Configurations merge(Set<Class<?>> mergedClasses) {
        return new SortedAutoConfigurations(mergedClasses);
    }

    private static Collection<Class<?>> sort(Collection<Class<?>> classes) {
        return SORTED.computeIfAbsent(
                Set.copyOf(classes),
                all -> List.of(Configurations.getClasses(AutoConfigurations.of(all.toArray(Class<?>[]::new)))));
    }
}
