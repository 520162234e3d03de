package io.syncguard.aop;

import io.syncguard.LockSetupException;
import io.syncguard.MessageText;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;

/** Checks that the beans of expressions exist. It creates none of them. Thread-safe. */
final class BeanReferences {

    private final ListableBeanFactory beans;

    /** The references that were parsed before all beans existed. */
    private final List<Reference> unchecked = new CopyOnWriteArrayList<>();

    /** Written by the thread that starts the application, read by all. */
    private volatile boolean allBeansExist;

    BeanReferences(ListableBeanFactory beans) {
        this.beans = beans;
    }

    /**
     * Checks the names now, or once all beans exist.
     *
     * @param where the annotation and its attribute
     */
    void require(String where, Set<String> names) {
        for (String name : names) {
            Reference reference = new Reference(where, name);
            if (allBeansExist) {
                require(reference);
            } else {
                unchecked.add(reference);
            }
        }
    }

    void requireAll() {
        allBeansExist = true;
        unchecked.forEach(this::require);
        unchecked.clear();
    }

    private void require(Reference reference) {
        if (!beans.containsBean(reference.bean)) {
            throw LockSetupException.at(
                    reference.where,
                    LockSetupException.invalid(
                            "there is no bean '" + reference.bean + "'",
                            MessageText.nextSteps(
                                    reference.bean,
                                    List.of(BeanFactoryUtils.beanNamesIncludingAncestors(beans)),
                                    "Correct the name behind the @")[0],
                            "Define the bean"));
        }
    }

    private record Reference(String where, String bean) {}
}
