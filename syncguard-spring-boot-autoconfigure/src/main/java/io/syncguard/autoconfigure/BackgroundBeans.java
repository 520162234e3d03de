package io.syncguard.autoconfigure;

import java.util.stream.Stream;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.util.StringUtils;

/**
 * Has the properties read before Spring creates beans in the background: their annotations need them, and Spring
 * refuses to create a bean of the main thread on another one.
 */
final class BackgroundBeans implements BeanFactoryPostProcessor {

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        String[] properties = Stream.of(SyncGuardProperties.class, LocksProperties.class)
                .flatMap(type -> Stream.of(beans.getBeanNamesForType(type, false, false)))
                .toArray(String[]::new);
        for (String name : beans.getBeanDefinitionNames()) {
            if (beans.getBeanDefinition(name) instanceof AbstractBeanDefinition bean && bean.isBackgroundInit()) {
                bean.setDependsOn(StringUtils.concatenateStringArrays(bean.getDependsOn(), properties));
            }
        }
    }
}
