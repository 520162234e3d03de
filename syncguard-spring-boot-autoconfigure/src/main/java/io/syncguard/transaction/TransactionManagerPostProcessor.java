package io.syncguard.transaction;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Has every transaction manager guard its commits. A bean of type {@code TransactionExecutionListener} would reach only
 * the transaction managers that Boot makes.
 */
public final class TransactionManagerPostProcessor implements BeanPostProcessor {

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof PlatformTransactionManager manager
                && bean instanceof ConfigurableTransactionManager configurable
                // One manager may be a bean under two names.
                && configurable.getTransactionExecutionListeners().stream()
                        .noneMatch(TransactionListener.class::isInstance)) {
            configurable.addListener(new TransactionListener(manager));
        }
        return bean;
    }
}
