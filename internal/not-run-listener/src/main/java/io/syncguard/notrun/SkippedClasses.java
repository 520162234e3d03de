package io.syncguard.notrun;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.opentest4j.TestAbortedException;

/** After an assumption in {@code @BeforeAll} that does not hold, each test of the class is skipped and counted. */
public final class SkippedClasses implements ExecutionCondition, LifecycleMethodExecutionExceptionHandler {

    private static final Namespace NAMESPACE = Namespace.create(SkippedClasses.class);

    @Override
    public void handleBeforeAllMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        if (failure instanceof TestAbortedException) {
            context.getStore(NAMESPACE).put(NAMESPACE, NotRunListener.reason(failure));
        } else {
            unlessSkipped(context, failure);
        }
    }

    @Override
    public void handleAfterAllMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        unlessSkipped(context, failure);
    }

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        String reason = context.getStore(NAMESPACE).get(NAMESPACE, String.class);
        return reason == null
                ? ConditionEvaluationResult.enabled("no assumption of its class has failed")
                : ConditionEvaluationResult.disabled(reason);
    }

    /** A class that was skipped may fail to close what it has not opened: that failure is ignored. */
    private static void unlessSkipped(ExtensionContext context, Throwable failure) throws Throwable {
        if (context.getStore(NAMESPACE).get(NAMESPACE) == null) {
            throw failure;
        }
    }
}
