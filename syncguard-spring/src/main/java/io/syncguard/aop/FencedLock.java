package io.syncguard.aop;

import io.syncguard.LockHandle;
import java.util.List;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/**
 * A lock of a running call, and the resource that it protects. The lock interceptor, outside the transaction, passes it
 * to the fence interceptor, inside the transaction, as an attribute of the call.
 */
record FencedLock(LockHandle lock, String resource) {

    private static final String ATTRIBUTE = FencedLock.class.getName();

    /** @throws IllegalStateException when the call does not come through a Spring proxy */
    static void pass(List<FencedLock> locks, MethodInvocation call) {
        if (!(call instanceof ProxyMethodInvocation proxied)) {
            throw new IllegalStateException("Not called through a Spring proxy: " + call.getMethod());
        }
        proxied.setUserAttribute(ATTRIBUTE, locks);
    }

    /** Returns no lock for a call that runs without one because its condition is false. */
    @SuppressWarnings("unchecked")
    static List<FencedLock> of(MethodInvocation call) {
        @Nullable
        Object locks = call instanceof ProxyMethodInvocation proxied ? proxied.getUserAttribute(ATTRIBUTE) : null;
        return locks == null ? List.of() : (List<FencedLock>) locks;
    }
}
