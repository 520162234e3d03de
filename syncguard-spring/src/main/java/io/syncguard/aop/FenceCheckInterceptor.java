package io.syncguard.aop;

import io.syncguard.Fence;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * Checks the fences of a call's locks in the transaction of the call, before the body.
 */
final class FenceCheckInterceptor implements MethodInterceptor {

    private final Supplier<BiConsumer<String, Fence>> check;

    /** @param check receives a resource and a fence, and throws when it refuses the fence */
    FenceCheckInterceptor(Supplier<BiConsumer<String, Fence>> check) {
        this.check = check;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        for (FencedLock fenced : FencedLock.of(invocation)) {
            check(fenced, invocation);
        }
        return invocation.proceed();
    }

    private void check(FencedLock fenced, MethodInvocation invocation) {
        try {
            check.get().accept(fenced.resource(), fenced.lock().fence());
        } catch (LockException ex) {
            if (ex.code() != LockErrorCode.INVALID_ARGUMENT) {
                throw ex;
            }
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "@DistributedLock on " + ClassUtils.getQualifiedMethodName(invocation.getMethod())
                            + ", attribute 'fencedResource': " + ex.getMessage(),
                    ex);
        }
    }
}
