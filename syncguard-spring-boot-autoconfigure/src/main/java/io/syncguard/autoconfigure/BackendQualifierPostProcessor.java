package io.syncguard.autoconfigure;

import io.syncguard.LockSetupException;
import io.syncguard.spi.LockBackend;
import java.util.List;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.AutowireCandidateQualifier;

/**
 * With two backends, adds the name of each as a qualifier to its manager, template, admin and backend beans. A property
 * decides which one is primary, so no annotation can do this.
 */
final class BackendQualifierPostProcessor implements BeanFactoryPostProcessor {

    private final List<Backend> named;

    /** @param named the backends in the property */
    BackendQualifierPostProcessor(List<Backend> named) {
        this.named = named;
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        if (named.stream().noneMatch(backend -> beans.containsBeanDefinition(backend.bean()))) {
            requireKnownNames(beans);
            return;
        }
        requireAllNamed(beans);
        if (named.size() == 1) {
            // A single backend gets no qualifier: @Qualifier would no longer find its beans by their names.
            return;
        }
        for (Backend backend : named) {
            boolean isPrimary = backend.equals(named.get(0));
            definition(beans, backend.bean()).setDefaultCandidate(isPrimary);
            qualify(beans, backend.bean(), backend);
            qualifyOurs(
                    beans,
                    isPrimary ? SyncGuardAutoConfiguration.MANAGER : SyncGuardAutoConfiguration.SECOND_MANAGER,
                    backend);
            qualifyOurs(
                    beans,
                    isPrimary ? SyncGuardAutoConfiguration.TEMPLATE : SyncGuardAutoConfiguration.SECOND_TEMPLATE,
                    backend);
            qualifyOurs(
                    beans,
                    isPrimary ? SyncGuardAutoConfiguration.ADMIN : SyncGuardAutoConfiguration.SECOND_ADMIN,
                    backend);
        }
    }

    /** A misspelt name fails the start before any other bean, unless the application has its own store or manager. */
    private void requireKnownNames(ConfigurableListableBeanFactory beans) {
        if (beans.getBeanNamesForType(LockBackend.class, true, false).length == 0
                && isOurs(beans, SyncGuardAutoConfiguration.MANAGER)) {
            named.stream()
                    .filter(backend -> !LockStores.isOurs(backend))
                    .findFirst()
                    .ifPresent(backend -> {
                        throw LockStores.missing(backend);
                    });
        }
    }

    /** A named backend without its library fails the start, and not only the first use. */
    private void requireAllNamed(ConfigurableListableBeanFactory beans) {
        for (Backend backend : named) {
            if (!beans.containsBeanDefinition(backend.bean())) {
                throw LockStores.missing(backend);
            }
        }
        if (named.size() > 2) {
            throw LockSetupException.invalid(
                    "syncguard.backend names "
                            + named.stream().map(Backend::name).toList()
                            + ", but an application has at most two stores",
                    "Name the two that it uses");
        }
    }

    private static void qualifyOurs(ConfigurableListableBeanFactory beans, String bean, Backend backend) {
        // A bean of the application in its place may belong to any store.
        if (isOurs(beans, bean)) {
            qualify(beans, bean, backend);
        }
    }

    private static boolean isOurs(ConfigurableListableBeanFactory beans, String bean) {
        return beans.containsBeanDefinition(bean)
                && SyncGuardAutoConfiguration.class
                        .getName()
                        .equals(definition(beans, bean).getFactoryBeanName());
    }

    private static void qualify(ConfigurableListableBeanFactory beans, String bean, Backend backend) {
        definition(beans, bean).addQualifier(new AutowireCandidateQualifier(Qualifier.class, backend.name()));
    }

    private static AbstractBeanDefinition definition(ConfigurableListableBeanFactory beans, String bean) {
        return (AbstractBeanDefinition) beans.getBeanDefinition(bean);
    }
}
