package io.syncguard.interception;

import java.lang.reflect.UndeclaredThrowableException;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * One call of an annotated method.
 *
 * @param method the parsed annotation
 * @param invocation the call itself
 * @param targetClass the class of the bean
 * @param <M> the type of a parsed annotation
 */
public record AnnotatedCall<M>(M method, MethodInvocation invocation, Class<?> targetClass) {

    /** Runs the body. */
    public @Nullable Object proceed() throws Exception {
        try {
            return invocation.proceed();
        } catch (Exception | Error ex) {
            throw ex;
        } catch (Throwable ex) {
            throw new UndeclaredThrowableException(ex);
        }
    }
}
