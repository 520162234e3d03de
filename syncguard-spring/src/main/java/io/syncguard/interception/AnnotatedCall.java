package io.syncguard.interception;

import java.lang.reflect.UndeclaredThrowableException;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/**
 * One call of an annotated method.
 *
 * @param method the parsed annotation
 * @param invocation the call itself
 * @param targetClass the class of the bean
 * @param <M> the type of a parsed annotation
 */
public record AnnotatedCall<M>(M method, MethodInvocation invocation, Class<?> targetClass) {

    /**
     * Returns a copy that can run again. Each subscription needs one, because a run uses up the interceptors of the
     * call.
     */
    public AnnotatedCall<M> copy() {
        return with(((ProxyMethodInvocation) invocation).invocableClone());
    }

    /** Returns a call whose body is another one, of the same bean. */
    public AnnotatedCall<M> with(MethodInvocation body) {
        return new AnnotatedCall<>(method, body, targetClass);
    }

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
