package io.syncguard.autoconfigure;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;

/**
 * Has every transaction manager check the locks right before a commit. A bean of type
 * {@code TransactionExecutionListener} would reach only the transaction managers that Boot makes.
 */
final class TransactionManagerPostProcessor implements BeanPostProcessor {

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof ConfigurableTransactionManager manager
                // One manager may be a bean under two names.
                && !manager.getTransactionExecutionListeners().contains(SpringTransactions.LAST_LOOK)) {
            manager.addListener(SpringTransactions.LAST_LOOK);
        }
        return bean;
    }
}
