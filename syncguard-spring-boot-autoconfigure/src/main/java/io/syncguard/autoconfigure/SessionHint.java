package io.syncguard.autoconfigure;

import io.syncguard.aop.DistributedLockAdvisor;
import java.lang.reflect.Method;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.util.ClassUtils;

/**
 * Warns at the start of locked methods that get a session of Spring Session: its attributes are read before the lock
 * and saved after it.
 */
final class SessionHint implements SmartInitializingSingleton {

    private static final Log log = LogFactory.getLog(SessionHint.class);

    private static final Set<String> SESSIONS =
            Set.of("jakarta.servlet.http.HttpSession", "org.springframework.web.server.WebSession");

    /** The beans that make the sessions of requests those of Spring Session. */
    private static final Set<String> STORES = Set.of(
            "org.springframework.session.web.http.SessionRepositoryFilter",
            "org.springframework.session.web.server.session.SpringSessionWebSessionStore");

    private final ObjectProvider<DistributedLockAdvisor> locks;
    private final ListableBeanFactory beans;

    SessionHint(ObjectProvider<DistributedLockAdvisor> locks, ListableBeanFactory beans) {
        this.locks = locks;
        this.beans = beans;
    }

    @Override
    public void afterSingletonsInstantiated() {
        if (STORES.stream().noneMatch(this::isBean)) {
            return;
        }
        locks.stream()
                .flatMap(advisor -> advisor.lockedMethods().stream())
                .filter(SessionHint::getsSession)
                .map(ClassUtils::getQualifiedMethodName)
                .sorted()
                .findFirst()
                .ifPresent(method -> log.warn("The locked method " + method
                        + " gets a session of Spring Session: its attributes were read before the lock, and are saved"
                        + " after it, so changes may be lost. Pass the id of the session instead, and read and save the"
                        + " session through the SessionRepository under the lock"));
    }

    private boolean isBean(String type) {
        ClassLoader classLoader = SessionHint.class.getClassLoader();
        return ClassUtils.isPresent(type, classLoader)
                && BeanFactoryUtils.beanNamesForTypeIncludingAncestors(
                                        beans, ClassUtils.resolveClassName(type, classLoader), true, false)
                                .length
                        > 0;
    }

    private static boolean getsSession(Method method) {
        return Stream.of(method.getParameterTypes()).anyMatch(type -> SESSIONS.contains(type.getName()));
    }
}
