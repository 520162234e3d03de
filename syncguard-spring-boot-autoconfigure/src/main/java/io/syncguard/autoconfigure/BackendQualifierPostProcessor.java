package io.syncguard.autoconfigure;

import java.util.Arrays;
import java.util.List;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.AutowireCandidateQualifier;

/**
 * Gives manager, template and store of each of two backends its name as a qualifier. Which of two backends is the primary one is said
 * by a property, so that no annotation can do it.
 */
final class BackendQualifierPostProcessor implements BeanFactoryPostProcessor {

    private final List<Backend> named;

    /** @param named by the property */
    BackendQualifierPostProcessor(List<Backend> named) {
        this.named = named;
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        List<Backend> present = Arrays.stream(Backend.values())
                .filter(backend -> beans.containsBeanDefinition(backend.bean()))
                .toList();
        if (present.isEmpty()) {
            // The application brings a LockBackend or LockManager of its own.
            return;
        }
        requireAllNamed(present);
        if (present.size() == 1) {
            // With a qualifier a bean is no longer found by @Qualifier with its own name.
            return;
        }
        Backend primary = named.get(0);
        for (Backend backend : present) {
            boolean isPrimary = backend == primary;
            definition(beans, backend.bean()).setDefaultCandidate(isPrimary);
            qualify(beans, backend.bean(), backend);
            qualifyOurs(beans, isPrimary ? "lockManager" : SyncGuardAutoConfiguration.SECOND_MANAGER, backend);
            qualifyOurs(beans, isPrimary ? "lockTemplate" : SyncGuardAutoConfiguration.SECOND_TEMPLATE, backend);
        }
    }

    /** A second backend that is left out for want of a library would be missed by the first who asks for it, or by nobody. */
    private void requireAllNamed(List<Backend> present) {
        for (Backend backend : named) {
            if (!present.contains(backend)) {
                throw new IllegalStateException("syncguard.backend names '" + backend.qualifier()
                        + "', which is not there: its libraries are not on the class path, or the application has a"
                        + " LockBackend of its own. Use "
                        + (backend == Backend.REDIS
                                ? "spring-boot-starter-data-redis with Lettuce"
                                : "syncguard-spring-boot-starter")
                        + ", or take it out of syncguard.backend");
            }
        }
    }

    private static void qualifyOurs(ConfigurableListableBeanFactory beans, String bean, Backend backend) {
        // One of the application in its place stands for whatever it likes.
        if (beans.containsBeanDefinition(bean)
                && SyncGuardAutoConfiguration.class
                        .getName()
                        .equals(definition(beans, bean).getFactoryBeanName())) {
            qualify(beans, bean, backend);
        }
    }

    private static void qualify(ConfigurableListableBeanFactory beans, String bean, Backend backend) {
        definition(beans, bean).addQualifier(new AutowireCandidateQualifier(Qualifier.class, backend.qualifier()));
    }

    private static AbstractBeanDefinition definition(ConfigurableListableBeanFactory beans, String bean) {
        return (AbstractBeanDefinition) beans.getBeanDefinition(bean);
    }
}
