package io.syncguard.aop;

import io.syncguard.LockManager;
import io.syncguard.LockSetupException;
import io.syncguard.MessageText;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Finds the lock manager that an annotation or a property names: by its qualifier or the name of its bean, as
 * {@code @Transactional} finds a transaction manager.
 */
public final class LockManagerResolver {

    private final ListableBeanFactory beans;

    public LockManagerResolver(ListableBeanFactory beans) {
        this.beans = beans;
    }

    /**
     * Finds the bean of the manager now, and creates it at the first call of the supplier.
     *
     * @throws LockSetupException when none or more than one has the name
     */
    public Supplier<LockManager> manager(String name) {
        // By bean names, so that no bean is created early: annotations are read while the first beans are created.
        String[] all = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, LockManager.class, true, false);
        Set<String> known = new TreeSet<>();
        List<String> found = List.of(all).stream()
                .filter(bean -> namesOf(bean, known).contains(name))
                .toList();
        if (found.isEmpty()) {
            throw LockSetupException.invalid(
                    "there is no LockManager with the name or qualifier '" + name + "', only " + known,
                    MessageText.nextSteps(
                            name,
                            known,
                            "Correct the name",
                            "Use one of these names",
                            "Add its store to syncguard.backend, or declare a LockManager bean '" + name + "'"));
        }
        if (found.size() > 1) {
            throw LockSetupException.invalid(
                    "more than one LockManager has the name or qualifier '" + name + "': " + found,
                    "Use the name of a bean");
        }
        return SingletonSupplier.of(() -> beans.getBean(found.get(0), LockManager.class));
    }

    private Set<String> namesOf(String bean, Set<String> known) {
        Set<String> names = new TreeSet<>();
        // Matches the name of the bean, its aliases or its qualifier.
        BeanFactoryAnnotationUtils.isQualifierMatch(
                candidate -> {
                    names.add(candidate);
                    return false;
                },
                bean,
                beans);
        known.addAll(names);
        return names;
    }
}
