package io.syncguard.autoconfigure;

import io.syncguard.DistributedLock;
import io.syncguard.LockSetupException;
import io.syncguard.concurrent.Chain;
import io.syncguard.interception.AnnotatedMethodPointcut;
import io.syncguard.leader.LeaderOnly;
import java.lang.annotation.Annotation;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.Order;

/**
 * Explains why Spring could not create a proxy: which annotation needs it, on a final class whose interfaces Spring may
 * not proxy instead.
 */
@Order(0)
final class ClosedClassFailureAnalyzer extends AbstractFailureAnalyzer<BeanCreationException> {

    private final BeanFactory beans;

    ClosedClassFailureAnalyzer(BeanFactory beans) {
        this.beans = beans;
    }

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BeanCreationException cause) {
        BeanCreationException failed =
                Chain.end(cause, each -> each.getCause() instanceof BeanCreationException inner ? inner : null);
        String bean = failed.getBeanName();
        if (!(failed.getCause() instanceof AopConfigException) || bean == null || !beans.containsBean(bean)) {
            return null;
        }
        Class<?> type = beans.getType(bean, false);
        return type == null ? null : analysis(type, failed);
    }

    private static @Nullable FailureAnalysis analysis(Class<?> type, BeanCreationException failed) {
        for (Class<? extends Annotation> annotation : List.of(DistributedLock.class, LeaderOnly.class)) {
            try {
                new AnnotatedMethodPointcut<>(annotation, "", (found, method, targetClass) -> found).requireOpen(type);
            } catch (LockSetupException ex) {
                return new FailureAnalysis(ex.problem() + ".", LockSetupFailureAnalyzer.action(ex.nextSteps()), failed);
            }
        }
        return null;
    }
}
