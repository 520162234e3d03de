package io.syncguard.transaction;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.ClassUtils;

/**
 * Keeps the property {@code dataSource} of transaction managers readable in a native image: it decides whether a commit
 * can be guarded.
 */
final class TransactionManagerAotProcessor implements BeanRegistrationAotProcessor {

    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        if (!PlatformTransactionManager.class.isAssignableFrom(bean.getBeanClass())) {
            return null;
        }
        Method getter = ClassUtils.getMethodIfAvailable(bean.getBeanClass(), "getDataSource");
        return getter == null
                ? null
                : (generation, code) ->
                        generation.getRuntimeHints().reflection().registerMethod(getter, ExecutableMode.INVOKE);
    }
}
