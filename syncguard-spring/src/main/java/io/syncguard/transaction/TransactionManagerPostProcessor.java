package io.syncguard.transaction;

import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Adds a {@link TransactionListener} to every transaction manager, which guards its commits, and a
 * {@link TransactionEnd}. Beans of type {@code TransactionExecutionListener} would reach only the transaction managers
 * that Boot creates.
 *
 * <p>A manager that another post-processor or an advisor needs is created before this post-processor, and an
 * application may replace the listeners of a manager. So all managers are checked again when all beans exist, and those
 * of a child context when it tells its parents that it has started.
 */
public final class TransactionManagerPostProcessor
        implements BeanPostProcessor,
                SmartInitializingSingleton,
                BeanFactoryAware,
                ApplicationListener<ContextRefreshedEvent> {

    private static final Log log = LogFactory.getLog(TransactionManagerPostProcessor.class);

    private @Nullable ListableBeanFactory beans;

    @Override
    public void setBeanFactory(BeanFactory beanFactory) {
        this.beans = beanFactory instanceof ListableBeanFactory listable ? listable : null;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (bean instanceof PlatformTransactionManager manager) {
            listenTo(manager, beans);
        }
        return bean;
    }

    @Override
    public void afterSingletonsInstantiated() {
        if (beans != null) {
            listenToAll(beans);
        }
    }

    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
        if (event.getApplicationContext().getAutowireCapableBeanFactory() != beans) {
            listenToAll(event.getApplicationContext());
        }
    }

    private static void listenToAll(ListableBeanFactory beans) {
        beans.getBeansOfType(PlatformTransactionManager.class, false, false).forEach((name, manager) -> {
            if (!listenTo(manager, beans)) {
                log.warn("The transaction manager '" + name + "' ("
                        + manager.getClass().getName()
                        + ") calls no listeners: its commits are guarded only by locks that are acquired, run a body or"
                        + " are released inside its transactions");
            }
        });
    }

    /** Returns whether the manager calls listeners. */
    private static boolean listenTo(PlatformTransactionManager manager, @Nullable ListableBeanFactory beans) {
        if (!(manager instanceof ConfigurableTransactionManager configurable)) {
            return false;
        }
        // One manager may be a bean under two names.
        if (configurable.getTransactionExecutionListeners().stream().noneMatch(TransactionListener.class::isInstance)) {
            // The application may have set listeners that cannot be changed.
            List<TransactionExecutionListener> listeners =
                    new ArrayList<>(configurable.getTransactionExecutionListeners());
            listeners.add(0, new TransactionEnd());
            listeners.add(new TransactionListener(new GuardedManager(manager, () -> dataSources(beans))));
            configurable.setTransactionExecutionListeners(listeners);
        }
        return true;
    }

    /** At the first use: they may not exist when the transaction manager does. */
    private static List<DataSource> dataSources(@Nullable ListableBeanFactory beans) {
        return beans == null
                ? List.of()
                : beans.getBeanProvider(DataSource.class, false).stream().toList();
    }
}
