package io.syncguard.test.autoconfigure;

import io.syncguard.autoconfigure.Backend;
import io.syncguard.spi.LockBackend;
import io.syncguard.test.LockTestControl;
import java.util.List;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.AutowireCandidateQualifier;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Registers an in-memory backend, and the control of its store, for each backend of the application: for each
 * {@link LockBackend} bean that it defines itself, else for each backend that {@code syncguard.backend} names. The bean
 * of a backend keeps its name, so that references to the name still work.
 */
final class TestLocksRegistrar implements ImportBeanDefinitionRegistrar {

    static final String BACKEND = "syncGuardTestLockBackend";

    private static final String CONTROL = "syncGuardTestControl";

    private final ListableBeanFactory beans;
    private final Environment environment;

    TestLocksRegistrar(BeanFactory beans, Environment environment) {
        this.beans = (ListableBeanFactory) beans;
        this.environment = environment;
    }

    @Override
    public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
        // Like conditions, this creates no bean.
        String[] own = beans.getBeanNamesForType(LockBackend.class, true, false);
        List<Backend> named = Backend.namedIn(environment);
        if (own.length > 0) {
            replace(own, registry);
        } else if (named.size() < 2) {
            register(registry);
        } else {
            register(named, registry);
        }
    }

    /** Registers the only backend, and its control. */
    static void register(BeanDefinitionRegistry registry) {
        register(CONTROL, BACKEND, new RootBeanDefinition(), registry);
    }

    private static void replace(String[] own, BeanDefinitionRegistry registry) {
        for (String backend : own) {
            AbstractBeanDefinition replaced = (AbstractBeanDefinition) registry.getBeanDefinition(backend);
            registry.removeBeanDefinition(backend);
            register(own.length == 1 ? CONTROL : CONTROL + ":" + backend, backend, replaced, registry);
        }
    }

    /** The control of the primary backend is the one that unqualified injection gets. */
    private static void register(List<Backend> named, BeanDefinitionRegistry registry) {
        for (Backend backend : named) {
            RootBeanDefinition like = new RootBeanDefinition();
            like.setDefaultCandidate(backend.equals(named.get(0)));
            like.addQualifier(new AutowireCandidateQualifier(Qualifier.class, backend.name()));
            register(CONTROL + ":" + backend.name(), backend.bean(), like, registry);
        }
    }

    /** @param like a definition whose qualifiers both beans get */
    private static void register(
            String controlName, String backendName, AbstractBeanDefinition like, BeanDefinitionRegistry registry) {
        RootBeanDefinition control = new RootBeanDefinition(LockTestControl.class);
        control.setAutowireMode(AbstractBeanDefinition.AUTOWIRE_CONSTRUCTOR);
        registry.registerBeanDefinition(controlName, candidateLike(like, control));
        RootBeanDefinition backend = new RootBeanDefinition();
        backend.setFactoryBeanName(controlName);
        backend.setFactoryMethodName("backend");
        backend.setTargetType(LockBackend.class);
        registry.registerBeanDefinition(backendName, candidateLike(like, backend));
    }

    private static RootBeanDefinition candidateLike(AbstractBeanDefinition like, RootBeanDefinition definition) {
        definition.copyQualifiersFrom(like);
        definition.setPrimary(like.isPrimary());
        definition.setFallback(like.isFallback());
        definition.setDefaultCandidate(like.isDefaultCandidate());
        return definition;
    }
}
