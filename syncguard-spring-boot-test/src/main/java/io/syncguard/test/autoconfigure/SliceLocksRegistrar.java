package io.syncguard.test.autoconfigure;

import io.syncguard.autoconfigure.Backend;
import io.syncguard.spi.LockBackend;
import java.util.List;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/** Registers locks in memory, unless the slice has all stores of the application. */
final class SliceLocksRegistrar implements ImportBeanDefinitionRegistrar {

    private final ListableBeanFactory beans;
    private final Environment environment;

    SliceLocksRegistrar(BeanFactory beans, Environment environment) {
        this.beans = (ListableBeanFactory) beans;
        this.environment = environment;
    }

    @Override
    public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
        String[] stores = beans.getBeanNamesForType(LockBackend.class, true, false);
        List<Backend> named = Backend.namedIn(environment);
        long namedStores = named.stream()
                .filter(backend -> registry.containsBeanDefinition(backend.bean()))
                .count();
        if (stores.length > 0 && (namedStores == 0 || namedStores == named.size())) {
            return;
        }
        for (String store : stores) {
            registry.removeBeanDefinition(store);
        }
        new TestLocksRegistrar((BeanFactory) beans, environment).registerBeanDefinitions(importing, registry);
    }
}
