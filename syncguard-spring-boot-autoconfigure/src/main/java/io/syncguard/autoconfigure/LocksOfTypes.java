package io.syncguard.autoconfigure;

import io.syncguard.aop.AnnotatedLock;
import io.syncguard.aop.LockNames;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/** Finds the annotated locks of beans that may not exist yet, such as lazy ones, by their types. Creates no bean. */
final class LocksOfTypes {

    private static final Log log = LogFactory.getLog(LocksOfTypes.class);

    private LocksOfTypes() {}

    /** @param which chooses by the name of a bean, of this context or of a parent */
    static Set<AnnotatedLock> in(ConfigurableListableBeanFactory beans, Predicate<String> which) {
        LockNames names = new LockNames(beans::resolveEmbeddedValue);
        Set<AnnotatedLock> locks = new HashSet<>();
        for (String bean : BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, Object.class, true, false)) {
            try {
                Class<?> type = which.test(bean) ? beans.getType(bean, false) : null;
                locks.addAll(type == null ? Set.of() : names.of(ClassUtils.getUserClass(type)));
            } catch (RuntimeException | LinkageError ex) {
                log.debug("The class of bean '" + bean + "' cannot be read", ex);
            }
        }
        return locks;
    }
}
